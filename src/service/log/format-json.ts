import { escapeUnsafe } from '../../support/unsafe-characters.js';
import type { LogEvent } from './log.js';

const levels: Readonly<Record<LogEvent['event'], 'info' | 'warn' | 'error'>> = {
  listening: 'info',
  stopped: 'info',
  faults: 'warn',
  worker_ended: 'error',
  request: 'info',
  signature_rejected: 'warn',
  needless_escapes: 'warn',
  overload: 'warn',
  log_dropped: 'warn',
  store_unavailable: 'error',
  fault: 'error',
};

/** One line: the time, how grave it is, and the event as it is. */
export function formatJson(time: string, event: LogEvent): string {
  return escapeUnsafe(JSON.stringify({ time, level: levels[event.event], ...event }));
}
