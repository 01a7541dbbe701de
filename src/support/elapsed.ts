let clockAhead = Date.now() - performance.now();
/** For how long the machine was suspended, or how far its clock was set ahead, in milliseconds. */
let suspendedMs = 0;

/**
 * The age of the process in milliseconds. It never falls, unlike the clock of the machine. It counts suspensions, in
 * which `performance.now()` stands still on Linux, from 0.1 s: a clock that is only adjusted moves less between calls.
 */
export function elapsedMs(): number {
  const now = performance.now();
  const step = Date.now() - now - clockAhead;
  clockAhead += step;
  if (step >= 100) suspendedMs += step;
  return now + suspendedMs;
}
