// Prints how many one-shot digests, and how many recipes for a request, one thread tries a second:
// [bare, tried]. Takes {request, secret} as JSON, and for how many CPU seconds to search.
import { hash } from 'node:crypto';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Secret } from '../../../src/core/signing/secret.ts';
import { Search } from '../../../src/lab/solve/search/search.ts';
import { ShareQueue } from '../../../src/lab/solve/search/shares.ts';
import { cpuSeconds, measure, perSecond } from './cpu-time.mjs';

// In a thread such as the program starts for a search.
if (isMainThread) {
  new Worker(new URL(import.meta.url), { workerData: process.argv.slice(2) });
} else {
  const [sample, seconds] = workerData;
  process.stdout.write(JSON.stringify(measureSearch(JSON.parse(sample), Number(seconds))));
}

function measureSearch({ request, secret }, seconds) {
  /** As long as a usual message. */
  const text = 'x'.repeat(180);
  const digest = () => hash('md5', text, 'hex');
  measure({ count: 0, seconds: 0 }, 1, digest);
  // A signature that no recipe makes: everything is tried.
  const signature = '0123456789abcdef0123456789abcdef';
  const bare = { count: 0, seconds: 0 };
  const tried = { count: 0, seconds: 0 };
  const startedAt = cpuSeconds();
  const search = new Search({ request, secret: new Secret(secret), signature, otherParams: [] });
  tried.seconds += cpuSeconds() - startedAt;
  const queue = new ShareQueue();
  for (let share = queue.take(); share !== null && tried.seconds < seconds; share = queue.take()) {
    measure(bare, 0.03, digest);
    const shareStartedAt = cpuSeconds();
    const tally = search.run(share);
    tried.seconds += cpuSeconds() - shareStartedAt;
    tried.count += tally.tried;
    queue.note(share, tally);
  }
  return [perSecond(bare), perSecond(tried)];
}
