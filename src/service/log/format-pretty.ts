import { resultCode } from '../../protocol/result-codes.js';
import { escapeUnsafe } from '../../support/unsafe-characters.js';
import { describeFaults } from '../faults/describe-faults.js';
import type { LogEvent, ProblemEvent, RequestEvent, SignatureRejectedEvent } from './log.js';

/** The lines that tell a person of an event. Nothing in them can act on a terminal. */
export function formatPretty(time: string, event: LogEvent): string[] {
  return linesOf(event).map((line, index) => escapeUnsafe(index === 0 ? `${time} ${line}` : `    ${line}`));
}

function linesOf(event: LogEvent): string[] {
  switch (event.event) {
    case 'listening':
      return [`listening on ${event.url}`];
    case 'stopped':
      return ['stopped'];
    case 'faults':
      return [`warning: things go wrong on purpose: ${describeFaults(event)}`];
    case 'worker_ended':
      return [`worker ${event.pid} ended: ${event.reason}; another starts in ${event.restart_ms}ms`];
    case 'request':
      return [requestLine(event)];
    case 'signature_rejected':
      return rejectionLines(event);
    case 'needless_escapes':
      return [
        `warning: app ${event.app_key} of tenant ${event.tenant_code} escapes characters of user_info` +
          ' that it should write as they are (§4.2 rule 7)',
      ];
    case 'log_dropped':
      return [`warning: ${event.events} events were not logged: the log was not read fast enough`];
    case 'overload':
      return [`warning: ${event.problem}${again(event)}`];
    case 'store_unavailable':
      return [`the store is unavailable: ${event.problem}${again(event)}`];
    case 'fault':
      return [`fault of the service${again(event)}:`, ...event.problem.split('\n')];
  }
}

function again({ repeats }: ProblemEvent): string {
  if (repeats === undefined) return '';
  return repeats === 1 ? ' (once more)' : ` (${repeats} more times)`;
}

function requestLine({ operation, app_key, tenant_code, status, code, msg, ms }: RequestEvent): string {
  const who = `app_key=${app_key ?? '-'} tenant_code=${tenant_code ?? '-'}`;
  const line = `${status} ${operation} ${who} ${ms}ms ${code}`;
  return code === resultCode.ok ? line : `${line} ${msg}`;
}

function rejectionLines(event: SignatureRejectedEvent): string[] {
  return [
    `${event.signature} of app ${event.app_key} is wrong; the service computes it so:`,
    `params    ${event.params}`,
    `message   ${event.message}`,
    `expected  ${event.expected}`,
    `received  ${event.received}`,
  ];
}
