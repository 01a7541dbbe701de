// This is what a thread loads.
import { parentPort, workerData } from 'node:worker_threads';
import { Secret } from '../../../core/signing/secret.js';
import { Search } from '../../../lab/solve/search/search.js';
import type { Share } from '../../../lab/solve/search/shares.js';
import type { PackedTask } from './search-threads.js';

/** One thread of a search: it receives shares and answers each with its tally. */
const task = workerData as PackedTask;
const search = new Search({ ...task, secret: new Secret(task.secret) });
parentPort?.on('message', (share: Share) => parentPort?.postMessage(search.run(share)));
