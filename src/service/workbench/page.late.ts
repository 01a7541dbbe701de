import { createHash } from 'node:crypto';
import { endpoints, type OperationName } from '../../core/contract/endpoints.js';
import { resultCode, resultCodeEntry } from '../../core/contract/result-codes.js';
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
  type Rejection,
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
  const { serial, event, rejection } = request;
  const means = resultCode[event.means];
  const open = isOpen ? html` open` : empty;
  const row = rejection === null ? 'more' : 'more why';
  const explanation = rejection === null ? resultView(request) : rejectionView(request, rejection);
  return html`<tbody class="${kindOf(means)}" id="r${serial}" data-serial="${serial}">
${rowView(request)}
<tr class="${row}"><td colspan="5"><details${open}>
${explanation}
${parametersView(request)}
</details></td></tr></tbody>
`;
}

/** What is shown of a request without a click. */
function rowView({ time, event }: RecentRequest): Html {
  const { operation, app_key, tenant_code, code, msg, ms } = event;
  const iso = new Date(time).toISOString();
  const tenant = tenant_code === null ? empty : html` <small>${tenant_code}</small>`;
  return html`<tr><td class="time"><time datetime="${iso}">${iso.slice(11, 23)}</time></td>
<th scope="row">${operation}</th>
<td>${app_key ?? '–'}${tenant}</td>
<td><strong class="code">${code}</strong> ${msg}</td>
<td class="ms">${Math.round(ms)}</td></tr>`;
}

/** What the result code means, and the command that helps with it. */
function resultView({ event }: RecentRequest): Html {
  const code = resultCode[event.means];
  const summary = html`<summary>${resultCodeEntry(code).meaning}</summary>`;
  if (event.means === 'ok') return summary;
  return html`${summary}
${commandView(`userinfo explain ${code}`)}`;
}

/** Why a signature is wrong, what to do about it, and how it is made. */
function rejectionView(request: RecentRequest, rejection: Rejection): Html {
  return html`<summary>${causeOf(rejection)}</summary>
${adviceOf(rejection)}
${commandView(commandAgainst(request, rejection))}
${stagesView(rejection)}`;
}

function kindOf(code: number): 'ok' | 'refused' | 'fault' {
  if (code === resultCode.ok) return 'ok';
  return code < 50_000 ? 'refused' : 'fault';
}

/** The command that helps with a wrong signature, ready to be pasted. */
function commandAgainst({ event, sent }: RecentRequest, { rejected }: Rejection): string {
  const finding = reconstructionOf(rejected)?.finding;
  const isMistake = finding?.every(({ preset }) => preset === undefined) ?? false;
  if (isMistake || sent === null) return 'userinfo doctor';
  return explainCommand(event.operation, sent) ?? 'userinfo doctor';
}

/**
 * The command that shows how userinfo signs this request, masked as on the page; `null` if the
 * request lacks what the command needs.
 */
function explainCommand(operation: string, { parameters, app }: SentParameters): string | null {
  const values = new Map<string, string>();
  for (const [name, value] of maskParameters(parameters, app)) values.set(name, value);
  const endpoint = endpoints.find((known) => known.operation === operation);
  if (endpoint === undefined) return null;
  const args = explainArguments[endpoint.operation]((name, ...option) => {
    const value = values.get(name) ?? '';
    return value === '' ? [] : [...option, value];
  });
  if (args.length === 0) return null;
  return ['userinfo', 'sign', 'explain', operation, ...args].map(quoteWhereNeeded).join(' ');
}

/** Returns a parameter as an argument, behind its option if it has one; empty without a value. */
type ArgumentOf = (name: string, ...option: readonly string[]) => readonly string[];

/**
 * The arguments of `sign explain` for a request of each operation; empty if the request lacks one
 * that it needs.
 */
const explainArguments: Readonly<
  Record<OperationName, (argument: ArgumentOf) => readonly string[]>
> = {
  read: (argument) => [
    ...argument('code'),
    ...argument('info_name'),
    ...argument('scope', '--scope'),
  ],
  passback: (argument) => {
    const user = [
      ...argument('union_id', '--union-id'),
      ...argument('primary_key', '--primary-key'),
    ];
    return user.length === 0 ? [] : [...argument('user_info', '--user-info'), ...user];
  },
};

/** A command with a button that copies it; without the script there is no button. */
function commandView(command: string): Html {
  return html`<p class="command"><code>${command}</code>
<button type="button" class="copy">Copy</button></p>`;
}

/** The parameters as sent, masked as in the log. */
function parametersView({ sent }: RecentRequest): Html {
  if (sent === null) {
    const why = 'Its parameters are not kept: there are none, or they are too long.';
    return html`<p class="advice">${why}</p>`;
  }
  const rows = maskParameters(sent.parameters, sent.app).map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td><code>${value}</code></td></tr>`,
  );
  return html`<table class="sent"><caption>Parameters as sent, masked</caption>
<tbody>${rows}</tbody></table>`;
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
