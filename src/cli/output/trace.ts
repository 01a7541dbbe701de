import type { ClientHooks } from '../../client/hooks.js';
import type { Io } from '../io.js';
import { showText } from './terminal-text.js';

/** For `--verbose`: prints each attempt and its answer. Signatures are shortened and personal data is masked. */
export function traceExchange(io: Io): Required<ClientHooks> {
  const print = (...lines: readonly string[]) =>
    io.stderr.write(lines.map((line) => `${showText(line)}\n`).join(''));
  return {
    onRequest: ({ method, url, attempt, parameters }) =>
      print(
        `> ${method} ${url}${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
        ...parameters.map(([name, value]) => `>   ${name}=${value}`),
      ),
    onResponse: ({ httpStatus, resultCode, durationMs, headers, envelope }) =>
      print(
        `< HTTP ${httpStatus}, code ${resultCode ?? 'none'}, ${durationMs} ms`,
        ...headers.map(([name, value]) => `<   ${name}: ${value}`),
        ...(envelope === undefined ? [] : [`<   ${envelope}`]),
      ),
    onNoAnswer: ({ message, reason, durationMs }) =>
      print(`< no answer (${reason}), ${durationMs} ms: ${message}`),
  };
}
