import { readdirSync, readFileSync } from 'node:fs';

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
