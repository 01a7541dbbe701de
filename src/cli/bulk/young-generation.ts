import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of both of its halves, in bytes: a run is about as fast as without a bound; with half of it, a twentieth slower. */
const enoughBytes = 16 * 1024 * 1024;
/** How often it is looked at, in milliseconds. */
const lookMs = 10;

/** Under these it grows no more, and is cleared by the thread whose it is: with helpers, that costs more time in all. */
const flags = ['--semi-space-growth-factor=1', '--no-parallel-scavenge'];
const initialFlags = ['--semi-space-growth-factor=2', '--parallel-scavenge'];

/**
 * Keeps the memory of a run from growing with its input. No row lives for long, yet V8 goes on doubling the space that
 * new objects take, to 32 MB on Node 20 and 128 MB on Node 24, and seldom gives any of it back. How large that may
 * become can be said only when Node is started, before any script; that it is to grow no more, at any time.
 */
export function boundYoungGeneration(): void {
  let isLargeEnough = false;
  const timer = setInterval(() => {
    isLargeEnough ||= youngBytes() >= enoughBytes;
    // Said on and on: V8 takes it back whenever a thread starts.
    if (isLargeEnough) for (const flag of flags) setFlagsFromString(flag);
  }, lookMs);
  timer.unref();
  // What is kept of compiled code at the exit, V8 takes only under the flags that it starts with.
  process.prependOnceListener('exit', () => {
    for (const flag of initialFlags) setFlagsFromString(flag);
  });
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
