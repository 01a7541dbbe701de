import { alikeLength } from '../../signing/verify/compare-messages.js';
import { empty, type Html, html } from './html.js';
import type { Reconstruction } from './reconstruct.js';
import { reconstructionOf } from './reconstructions.js';
import type { Rejection } from './request-ring.js';

/** Why a signature is wrong: each of its stages, as the service computes it beside what was received. */
export function stagesView({ explained, rejected }: Rejection, isOpen: boolean): Html {
  const found = reconstructionOf(rejected);
  const { signature, params, message, expected, received } = explained;
  const theirs = found?.stages ?? null;
  const unknown = found ? 'The difference is inside what is masked.' : 'Not known: it is not sent.';
  const alike = found?.otherSecret ? 'alike, but for the secret' : 'alike';
  const source = theirs === null ? 'only the digest is sent' : 'what the client must have computed';
  return html`<details${isOpen ? html` open` : empty}>
<summary><strong>${signature} is wrong.</strong> ${causeOf(found)}</summary>
${adviceView(found)}
<table class="stages">
<caption>How ${signature} is made, stage by stage</caption>
<thead><tr><th scope="col">Stage</th><th scope="col">Expected <small>what the service computes</small></th>
<th scope="col">Received <small>${source}</small></th></tr></thead>
<tbody>
${theirs === null ? unknownRow('Parameters', params, unknown) : stageRow('Parameters', params, theirs.params, alike)}
${theirs === null ? unknownRow('Message', message, unknown) : stageRow('Message', message, theirs.message, alike)}
${stageRow('Digest', expected, received, 'alike at its ends: the middle is masked')}
</tbody>
</table>
</details>`;
}

function causeOf(found: Reconstruction | null | undefined): string {
  if (found === undefined) return 'It was not looked into: it is too long, or one of too many.';
  return found === null ? 'None of the usual mistakes gives it.' : join(found, 'says');
}

function adviceView(found: Reconstruction | null | undefined): Html {
  if (found) return html`<p class="advice">${join(found, 'advice')}</p>`;
  return html`<p class="advice">Check the app secret first. Then see where the texts to sign part:
<code>userinfo sign verify --theirs &lt;text&gt;</code>, or find the client’s rule: <code>userinfo sign solve</code>.</p>`;
}

function join({ finding }: Reconstruction, part: 'says' | 'advice'): string {
  return finding.map((mistake) => mistake[part]).join(' ');
}

function unknownRow(name: string, expected: string, unknown: string): Html {
  return html`<tr><th scope="row">${name}</th><td><code>${expected}</code></td>
<td class="unknown">${unknown}</td></tr>`;
}

function stageRow(name: string, expected: string, received: string, alike: string): Html {
  const at = expected === received ? null : alikeLength(expected, received);
  const said = at === null ? alike : `differs at character ${at + 1}`;
  return html`<tr><th scope="row">${name} <small>${said}</small></th><td><code>${markedText(expected, at)}</code></td>
<td><code>${markedText(received, at)}</code></td></tr>`;
}

/** The character at `at` is marked, or the end of the text. */
function markedText(text: string, at: number | null): Html {
  if (at === null) return html`${text}`;
  const [character] = text.slice(at);
  if (character === undefined) return html`${text}<mark class="end" title="the text ends here"></mark>`;
  return html`${text.slice(0, at)}<mark>${character}</mark>${text.slice(at + character.length)}`;
}
