import { readFileSync } from 'node:fs';

/** The most memory that a process has had so far, in MB; 0 where it has ended, or the system does not say. */
export function peakMemory(pid: number | undefined): number {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}
