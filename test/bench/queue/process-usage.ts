import { readFileSync } from 'node:fs';

/** What a process has used so far: the most memory in MB, and processor time in milliseconds. */
export interface ProcessUsage {
  readonly peakMb: number;
  readonly cpuMs: number;
}

/** The usage of a process; `null` where it has ended, or the system does not say. */
export function usageOf(pid: number | undefined): ProcessUsage | null {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    if (kilobytes === undefined) return null;
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return { peakMb: Number(kilobytes) / 1024, cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
  } catch {
    return null;
  }
}
