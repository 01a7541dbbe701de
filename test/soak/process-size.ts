import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { medianOf } from '../bench/median.js';

/** What a process holds. Linux tells. */
export interface ProcessSize {
  /** Resident memory. */
  readonly megabytes: number;
  /** Open file descriptors: files and connections. */
  readonly descriptors: number;
}

/** What a process holds now; throws where there is none with that number. */
export function processSize(pid: number): ProcessSize {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return {
    megabytes: Number(kilobytes) / 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** That the second half of the sizes is as small as the first; prints both. */
export function expectFlat(sizes: readonly ProcessSize[], name: string): void {
  const half = sizes.length / 2;
  const [early, late] = [sizes.slice(0, half), sizes.slice(half)].map((part) => ({
    megabytes: medianOf(part.map(({ megabytes }) => megabytes)),
    descriptors: medianOf(part.map(({ descriptors }) => descriptors)),
  })) as [ProcessSize, ProcessSize];
  for (const [when, { megabytes, descriptors }] of Object.entries({ early, late })) {
    process.stdout.write(
      `${name}, ${when}: ${megabytes.toFixed(0)} MB, ${descriptors} descriptors\n`,
    );
  }
  expect(late.descriptors).toBeLessThanOrEqual(early.descriptors + 4);
  expect(late.megabytes).toBeLessThanOrEqual(early.megabytes * 1.15 + 10);
}
