import { createHash } from 'node:crypto';
import { entryOf, resultCode } from '../../core/contract/result-codes.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import { maskParameters } from '../rejection.js';
import { empty, type Html, html } from './html.js';
import style from './page.css?raw';
import page from './page.html?raw';
import script from './page.js?raw';
import { analyze, reconstructionOf } from './reconstruct.js';
import {
  keptRequests,
  type RecentRequest,
  type RequestRing,
  type SentParameters,
} from './request-ring.js';
import { adviceOf, causeOf, stagesView } from './stages.js';

/** Requests as rows of the table, each in its own body. Only the newest wrong signature is open. */
function requestsView(requests: readonly RecentRequest[]): Html {
  const newest = requests.find(({ rejection }) => rejection !== null);
  return html`${requests.map((request) => requestView(request, request === newest))}`;
}

function requestView(request: RecentRequest, isOpen: boolean): Html {
  const { serial, time, event, rejection } = request;
  const { operation, app_key, tenant_code, code, msg, ms } = event;
  const means = resultCode[event.means];
  const at = new Date(time).toISOString();
  const tenant = tenant_code === null ? empty : html` <small>${tenant_code}</small>`;
  const summary = rejection === null ? html`${entryOf(means).meaning}` : causeOf(rejection);
  return html`<tbody class="${kindOf(means)}" id="r${serial}" data-serial="${serial}">
<tr><td class="time"><time datetime="${at}">${at.slice(11, 23)}</time></td><th scope="row">${operation}</th><td>${
    app_key ?? '–'
  }${tenant}</td><td><strong class="code">${code}</strong> ${msg}</td><td class="ms">${Math.round(ms)}</td></tr>
<tr class="${rejection === null ? 'more' : 'more why'}"><td colspan="5"><details${isOpen ? html` open` : empty}>
<summary>${summary}</summary>
${rejection === null ? empty : adviceOf(rejection)}
${event.means === 'ok' ? empty : commandView(commandFor(request))}
${rejection === null ? empty : stagesView(rejection)}
${parametersView(request)}
</details></td></tr></tbody>
`;
}

function kindOf(code: number): 'ok' | 'refused' | 'fault' {
  if (code === resultCode.ok) return 'ok';
  return code < 50_000 ? 'refused' : 'fault';
}

/** The command that helps with this result, ready to be pasted. */
function commandFor({ event, rejection, sent }: RecentRequest): string {
  if (rejection === null) return `userinfo explain ${resultCode[event.means]}`;
  const found = reconstructionOf(rejection.rejected);
  const isMistake = found?.finding.every(({ preset }) => preset === undefined);
  const explained = isMistake || sent === null ? null : explainCommand(event.operation, sent);
  return explained ?? 'userinfo doctor';
}

/**
 * The command that shows how userinfo signs this request, masked as on the page; `null` if the
 * request lacks what the command needs.
 */
function explainCommand(operation: string, { parameters, app }: SentParameters): string | null {
  const values = new Map(maskParameters(parameters, app).map(([name, value]) => [name, value]));
  const option = (flag: string, name: string) => {
    const value = values.get(name);
    return value === undefined || value === '' ? [] : [flag, value];
  };
  const word = (name: string) => {
    const value = values.get(name);
    return value === undefined || value === '' ? [] : [value];
  };
  const user = [...option('--union-id', 'union_id'), ...option('--primary-key', 'primary_key')];
  const own: Readonly<Record<string, readonly string[]>> = {
    read: [...word('code'), ...word('info_name'), ...option('--scope', 'scope')],
    passback: user.length === 0 ? [] : [...option('--user-info', 'user_info'), ...user],
  };
  const args = own[operation] ?? [];
  if (args.length === 0) return null;
  return ['userinfo', 'sign', 'explain', operation, ...args].map(quoteWhereNeeded).join(' ');
}

/** A command with a button that copies it; without the script there is no button. */
function commandView(command: string): Html {
  return html`<p class="command"><code>${command}</code> <button type="button" class="copy">Copy</button></p>`;
}

/** The parameters as sent, masked as in the log. */
function parametersView({ sent }: RecentRequest): Html {
  if (sent === null)
    return html`<p class="advice">Its parameters are not kept: there are none, or they are too long.</p>`;
  const rows = maskParameters(sent.parameters, sent.app).map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td><code>${value}</code></td></tr>`,
  );
  return html`<table class="sent"><caption>Parameters as sent, masked</caption><tbody>${rows}</tbody></table>`;
}

/** The page may load and run only its own content. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src '${hashOf(style)}'`,
  `script-src '${hashOf(script)}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** The rows of the requests after the one with that serial; empty if there are none. */
export async function rowsAfter(ring: RequestRing, serial: number): Promise<string> {
  const requests = ring.after(serial);
  await analyze(requests);
  return requestsView(requests).markup;
}

/**
 * The whole page with the requests so far; only following new ones, filters, counts and copying
 * need the script.
 */
export async function pageOf(ring: RequestRing): Promise<string> {
  const requests = ring.after(0);
  await analyze(requests);
  const parts: Readonly<Record<string, string | number>> = {
    style: `<style>${style}</style>`,
    script: `<script>${script}</script>`,
    run: ring.run,
    keptRequests,
    keptRows: 2 * keptRequests,
    requests: requestsView(requests).markup,
  };
  return page.replace(/%(\w+)%/g, (_, name) => String(parts[name]));
}
