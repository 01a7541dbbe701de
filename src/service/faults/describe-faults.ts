import type { FaultSettings } from './faults.js';

/** Faults in the words in which they are asked for. */
export function describeFaults(faults: FaultSettings): string {
  const { latencyMs, error, reset, dropAfterCommit, skewSeconds, seed } = faults;
  const parts = [
    latencyMs && `latency=${latencyMs.min}ms..${latencyMs.max}ms`,
    error && `error=${percent(error)}`,
    reset && `reset=${percent(reset)}`,
    dropAfterCommit && `drop-after-commit=${percent(dropAfterCommit)}`,
    skewSeconds && `skew=${skewSeconds}s`,
  ].filter(Boolean);
  return `${parts.join(',')} (seed ${seed})`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}
