import type { ResourceLimits } from 'node:worker_threads';

/** What a thread that searches gets: what it makes is short-lived or stays, so more room for the young saves copying. */
export const threadLimits: ResourceLimits = { maxYoungGenerationSizeMb: 64 };
