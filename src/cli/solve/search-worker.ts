import { parentPort, workerData } from 'node:worker_threads';
import { Search } from '../../signing/solve/search/search.js';
import type { Share } from '../../signing/solve/search/share.js';
import { type PackedTask, unpackTask } from './packed-task.js';

/** One thread of a search: it is sent shares, and sends back what was done of each. */
const search = new Search(unpackTask(workerData as PackedTask));
parentPort?.on('message', (share: Share) => parentPort?.postMessage(search.run(share)));
