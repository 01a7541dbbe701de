import { createHash } from 'node:crypto';
import { empty, html } from './html.js';
import { lookInto } from './reconstructions.js';
import { keptRequests, type RequestRing } from './request-ring.js';
import { requestsView } from './request-view.js';
import { script } from './script.js';
import { style } from './style.js';

/** What the page may load and run: itself, nothing else. */
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

/** The rows of the requests after the one with that serial; empty where there are none. */
export async function rowsAfter(ring: RequestRing, serial: number): Promise<string> {
  const requests = ring.after(serial);
  await lookInto(requests);
  return requestsView(requests).markup;
}

/** The whole page, with the requests up to now; it needs its script only to follow what comes. */
export async function pageOf(ring: RequestRing): Promise<string> {
  const requests = ring.after(0);
  await lookInto(requests);
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
<span id="state" role="status">Reload for what has come since</span>
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
