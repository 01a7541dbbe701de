import { createHash } from 'node:crypto';
import { entryOf, resultCode } from '../../protocol/result-codes.js';
import { maskParameters } from '../rejection.js';
import { script, style } from './assets.js';
import { empty, type Html, html } from './html.js';
import { analyze, reconstructionOf } from './reconstruct.js';
import { keptRequests, type RecentRequest, type RequestRing } from './request-ring.js';
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
${commandView(commandFor(request))}
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
  const { means } = event;
  if (rejection === null)
    return means === 'ok' ? similarCommand(sent) : `userinfo explain ${resultCode[means]}`;
  const found = reconstructionOf(rejection.rejected);
  if (!found) return 'userinfo sign solve -';
  const preset = found.finding.find((mistake) => mistake.preset !== undefined)?.preset;
  return preset === undefined
    ? 'userinfo doctor'
    : `userinfo profile set PROFILE --signing-preset ${rejection.explained.signature}=${preset}`;
}

/** A command that sends such a request, with placeholders for values. */
function similarCommand(sent: RecentRequest['sent']): string {
  const shown = new Map(sent === null ? [] : maskParameters(sent.parameters, sent.app));
  const isPlain = (name: string) => name !== '' && !name.includes('*');
  const userInfo = shown.get('user_info');
  if (userInfo === undefined) {
    const names = (shown.get('info_name') ?? '').split(',').filter(isPlain);
    return ['userinfo read CODE', ...names].join(' ');
  }
  const keys = Object.keys(userInfo.startsWith('{') ? JSON.parse(userInfo) : {}).filter(isPlain);
  const key = shown.get('primary_key');
  const user = key === undefined ? '--union-id ID' : `--primary-key ${isPlain(key) ? key : 'KEY'}`;
  return ['userinfo passback', ...keys.map((key) => `${key}=VALUE`), user].join(' ');
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

/** `3 refused: 40102 × 2, 40106 × 1` */
function describeRefused(refused: readonly RecentRequest[]): string {
  const counts = new Map<number, number>();
  for (const { event } of refused) counts.set(event.code, (counts.get(event.code) ?? 0) + 1);
  const codes = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${code} × ${count}`);
  return `${refused.length} refused${codes.length === 0 ? '' : `: ${codes.join(', ')}`}`;
}

/** The whole page with the requests so far; only following new ones, filters and copying need the script. */
export async function pageOf(ring: RequestRing): Promise<string> {
  const requests = ring.after(0);
  await analyze(requests);
  const refused = requests.filter(({ event }) => event.means !== 'ok');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>userinfo: requests</title>
<link rel="icon" href="data:,">
<style>${{ markup: style }}</style>
</head>
<body>
<header>
<h1>userinfo <span>requests</span></h1>
<p class="counts"><span id="count">${requests.length}</span> shown, <span id="refused">${describeRefused(refused)}</span></p>
<p class="controls">
<label><input type="checkbox" id="only-refused"> only refused</label>
<input type="search" id="filter" placeholder="Filter" aria-label="Filter by operation, app or text" hidden>
<button type="button" id="pause" aria-pressed="false" hidden>Pause</button>
<span id="state" role="status">Reload for newer requests</span>
</p>
</header>
<main>
<table id="requests" data-run="${ring.run}" data-kept="${2 * keptRequests}">
<caption>The last ${keptRequests} requests, and the last ${keptRequests} refused ones, newest first. Secrets and personal data are masked, as in the log.</caption>
<thead><tr><th scope="col">Time <small>UTC</small></th><th scope="col">Operation</th><th scope="col">App <small>tenant</small></th><th scope="col">Result</th><th scope="col" class="ms">ms</th></tr></thead>
${requestsView(requests)}</table>
<p id="no-match" hidden>No request matches.</p>
<section id="none"${requests.length === 0 ? empty : html` hidden`}>
<h2>No request yet</h2>
<p>Send one, and it shows here. This sends a read with a code that was never issued:</p>
${commandView('userinfo doctor')}
<p>No app yet? This starts the service with one, with users and a profile:</p>
${commandView('userinfo serve --demo')}
</section>
</main>
<script>${{ markup: script }}</script>
</body>
</html>
`.markup;
}
