// Apart from routes.ts: loaded with the first request for the page.
import { createHash } from 'node:crypto';
import { escapeUnsafe } from '../../protocol/text.js';
import { Secret } from '../../signing/secret.js';
import { alikeLength } from '../../signing/verify/compare-messages.js';
import { script, style } from './assets.js';
import { analyze, type Reconstruction, reconstructionOf } from './reconstruct.js';
import { keptRequests, type RecentRequest, type Rejection, type RequestRing } from './request-ring.js';

/** Safe markup: from `html`, or constant. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[];

/** Markup from a template. Texts that are inserted are escaped. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: String.raw({ raw: template }, ...parts.map(markupOf)) };
}

export const empty: Html = { markup: '' };

function markupOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('');
}

function escapeHtml(text: string): string {
  return escapeUnsafe(text.toWellFormed())
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The placeholder of the secret. */
const secretLabel = String(new Secret(''));

/** Explains a wrong signature: its stages, as the service computes them and as the client did. */
export function stagesView({ explained, rejected }: Rejection, isOpen: boolean): Html {
  const found = reconstructionOf(rejected);
  const { signature, params, message, expected, received } = explained;
  const theirs = found?.stages ?? null;
  const unknown = found ? 'The difference is in the masked part.' : 'Unknown: a request does not contain it.';
  const stage = (name: string, ours: string, other: string | undefined) =>
    other === undefined
      ? unknownRow(name, ours, unknown)
      : stageRow(name, ours, other, found?.otherSecret === true);
  const source = theirs === null ? 'only the digest is sent' : 'what the client must have computed';
  return html`<details${isOpen ? html` open` : empty}>
<summary><strong>${signature} is wrong.</strong> ${causeOf(found)}</summary>
${adviceView(found)}
<table class="stages">
<caption>How ${signature} is made, stage by stage</caption>
<thead><tr><th scope="col">Stage</th><th scope="col">Expected <small>what the service computes</small></th>
<th scope="col">Received <small>${source}</small></th></tr></thead>
<tbody>
${stage('Parameters', params, theirs?.params)}
${stage('Message', message, theirs?.message)}
${digestRow(expected, received)}
</tbody>
</table>
</details>`;
}

function causeOf(found: Reconstruction | null | undefined): string {
  if (found === undefined) return 'Not analyzed: it is too long, or one of too many.';
  return found === null ? 'No single common mistake explains it.' : join(found, 'says');
}

function adviceView(found: Reconstruction | null | undefined): Html {
  if (found) return html`<p class="advice">${join(found, 'advice')}</p>`;
  return html`<p class="advice">Check the app secret first. Then find where the two texts to sign differ:
<code>userinfo sign verify --theirs &lt;text&gt;</code>, or find the client’s rule: <code>userinfo sign solve</code>.</p>`;
}

function join({ finding }: Reconstruction, part: 'says' | 'advice'): string {
  return finding.map((mistake) => mistake[part]).join(' ');
}

function unknownRow(name: string, expected: string, unknown: string): Html {
  return html`<tr><th scope="row">${name}</th><td><code>${expected}</code></td>
<td class="unknown">${unknown}</td></tr>`;
}

function stageRow(name: string, expected: string, received: string, otherSecret: boolean): Html {
  const difference = differenceOf(expected, received, otherSecret);
  return stageView(name, difference, [expected, received]);
}

/** The middle of both digests is masked. */
function digestRow(expected: string, received: string): Html {
  const difference = differenceOf(expected, received, false);
  const says = expected === received ? 'equal, as far as shown' : difference.says;
  return stageView('Digest', { ...difference, says }, [expected, received]);
}

function stageView(
  name: string,
  { says, at, length }: Difference,
  [expected, received]: [string, string],
): Html {
  return html`<tr><th scope="row">${name} <small>${says}</small></th>
<td><code>${markedText(expected, at, length)}</code></td>
<td><code>${markedText(received, at, length)}</code></td></tr>`;
}

/** Where two texts differ, as a range to mark in both; `at` is -1 for nowhere. */
interface Difference {
  readonly says: string;
  readonly at: number;
  readonly length: number;
}

function differenceOf(expected: string, received: string, otherSecret: boolean): Difference {
  if (expected !== received) {
    const at = alikeLength(expected, received);
    return { says: `differs at character ${at + 1}`, at, length: 1 };
  }
  const at = otherSecret ? expected.indexOf(secretLabel) : -1;
  if (at >= 0) return { says: 'differs in the secret', at, length: secretLabel.length };
  return { says: 'equal', at, length: 0 };
}

/** Marks `length` characters from `at` on, or the end of the text. */
function markedText(text: string, at: number, length: number): Html {
  if (at < 0) return html`${text}`;
  const marked = [...text.slice(at, at + 2 * length)].slice(0, length).join('');
  if (marked === '') return html`${text}<mark class="end" title="the text ends here"></mark>`;
  return html`${text.slice(0, at)}<mark>${marked}</mark>${text.slice(at + marked.length)}`;
}

/** Requests as rows of the table, each in its own body. Only the first rejected signature is open. */
export function requestsView(requests: readonly RecentRequest[]): Html {
  const newest = requests.find(({ rejection }) => rejection !== null);
  return html`${requests.map((request) => requestView(request, request === newest))}`;
}

function requestView({ serial, time, event, rejection }: RecentRequest, isOpen: boolean): Html {
  const { operation, app_key, tenant_code, status, code, msg, ms } = event;
  const at = new Date(time).toISOString();
  const tenant = tenant_code === null ? empty : html` <small>${tenant_code}</small>`;
  const why =
    rejection === null
      ? empty
      : html`<tr class="why"><td colspan="5">${stagesView(rejection, isOpen)}</td></tr>`;
  return html`<tbody class="${kindOf(status)}" data-serial="${serial}">
<tr><td class="time"><time datetime="${at}">${at.slice(11, 23)}</time></td><th scope="row">${operation}</th><td>${
    app_key ?? '–'
  }${tenant}</td><td><strong class="code">${code}</strong> ${msg}</td><td class="ms">${ms}</td></tr>
${why}</tbody>
`;
}

function kindOf(status: number): 'ok' | 'refused' | 'fault' {
  if (status < 400) return 'ok';
  return status < 500 ? 'refused' : 'fault';
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

/** The whole page with the requests so far; only following new ones needs the script. */
export async function pageOf(ring: RequestRing): Promise<string> {
  const requests = ring.after(0);
  await analyze(requests);
  const refused = requests.filter(({ event }) => event.status >= 400).length;
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
<p class="counts"><span id="count">${requests.length}</span> shown, <span id="refused">${refused}</span> refused</p>
<p class="controls">
<label><input type="checkbox" id="only-refused"> only refused</label>
<button type="button" id="pause" aria-pressed="false" hidden>Pause</button>
<span id="state" role="status">Reload for newer requests</span>
</p>
</header>
<main>
<table id="requests" data-run="${ring.run}" data-kept="${keptRequests}">
<caption>The last ${keptRequests} requests, newest first. Secrets and personal data are masked, as in the log.</caption>
<thead><tr><th scope="col">Time <small>UTC</small></th><th scope="col">Operation</th><th scope="col">App <small>tenant</small></th><th scope="col">Result</th><th scope="col" class="ms">ms</th></tr></thead>
${requestsView(requests)}</table>
<section id="none"${requests.length === 0 ? empty : html` hidden`}>
<h2>No request yet</h2>
<p>Send one, and it shows here:</p>
<pre>userinfo read &lt;code&gt;
userinfo passback level=gold --union-id &lt;id&gt;</pre>
<p>No app yet? <code>userinfo serve --demo</code> starts with one, with users and a profile.</p>
</section>
</main>
<script>${{ markup: script }}</script>
</body>
</html>
`.markup;
}
