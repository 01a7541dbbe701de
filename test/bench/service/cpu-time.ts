import { readdirSync, readFileSync } from 'node:fs';
import { query } from '../../support/postgres/test-schema.js';

/** Clock ticks a second of /proc/<pid>/stat. */
const ticksPerSecond = 100;

/** The fields of /proc/<pid>/stat from the state on; none of a process that has ended. */
function statOf(pid: number | string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.replace(/^.*\) /s, '').split(' ');
  } catch {
    return [];
  }
}

/** User and system time of a process and of its children that ended, in seconds. */
export function cpuSeconds(pid: number | string): number {
  const ticks = statOf(pid).slice(11, 15).map(Number);
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond;
}

/** User and system time of a server of PostgreSQL on this machine, in seconds. Linux only. */
export async function databaseCpuSeconds(url: string): Promise<number> {
  const [row] = await query(
    url,
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
  );
  const [, postmaster = ''] = statOf(String(row?.pid));
  const children = readdirSync('/proc').filter((pid) => statOf(pid)[1] === postmaster);
  // Of those that ended meanwhile, the postmaster has the time.
  return [...children, postmaster].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}
