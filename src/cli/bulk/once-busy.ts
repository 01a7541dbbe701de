import { performance } from 'node:perf_hooks';

/** How often it is looked, in milliseconds. */
const lookMs = 100;
/** A thread that is busy for this part of the time is what holds a run up. */
const busyPart = 0.8;

/** Does something once this thread has had nearly no time to spare for a while; never after `stop`. */
export function onceBusy(action: () => void): { stop(): void } {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization < busyPart) return;
    clearInterval(timer);
    action();
  }, lookMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
