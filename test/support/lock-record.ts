import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

const isLinux = process.platform === 'linux';

/**
 * The boot, the PID namespace and the time namespace of this process, as /proc tells them to any
 * program.
 */
export function pidSpace(): string {
  if (!isLinux) return '';
  const clock = existsSync('/proc/self/ns/time') ? [readlinkSync('/proc/self/ns/time')] : [];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return [boot, readlinkSync('/proc/self/ns/pid'), ...clock].join(' ');
}

interface Written {
  readonly pid: number;
  readonly start?: string;
  readonly host?: string;
  /** Empty as an older version, or another system, writes it. */
  readonly space?: string;
}

/** The text of a lock file, as a process writes it. */
export function lockRecord({
  pid,
  start = '',
  host = hostname(),
  space = pidSpace(),
}: Written): string {
  return [pid, start, randomUUID(), host, ...(space === '' ? [] : [space])].join(' ');
}

/** The start time of a process as Linux reports it. */
export function startOf(pid: number): string {
  if (!isLinux) return '';
  return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ')[19] ?? '';
}
