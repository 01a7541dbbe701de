import { Secret } from '../../core/signing/secret.js';
import { alikeLength } from '../../lab/verify/compare-messages.js';
import { sentencesOf } from '../../lab/verify/verify-signature.js';
import { empty, type Html, html } from './html.js';
import { reconstructionOf } from './reconstruct.js';
import type { Rejection } from './request-ring.js';

const secretLabel = String(new Secret(''));

export function causeOf({ explained, rejected }: Rejection): Html {
  const found = reconstructionOf(rejected);
  const cause =
    found === undefined
      ? 'Not analyzed: it is too long, or one of too many.'
      : found === null
        ? 'No single common mistake explains it.'
        : sentencesOf(found.finding, 'says');
  return html`<strong>${explained.signature} is wrong.</strong> ${cause}`;
}

export function adviceOf({ rejected }: Rejection): Html {
  const found = reconstructionOf(rejected);
  return found ? html`<p class="advice">${sentencesOf(found.finding, 'advice')}</p>` : empty;
}

/** The stages as the service computes them and as the client did. */
export function stagesView({ explained, rejected }: Rejection): Html {
  const found = reconstructionOf(rejected);
  const { signature, params, message, expected, received } = explained;
  const theirs = found?.stages ?? null;
  const unknown = found
    ? 'The difference is in the masked part.'
    : 'Unknown: a request does not contain it.';
  const stage = (name: string, ours: string, other: string | undefined) =>
    other === undefined
      ? html`<tr><th scope="row">${name}</th><td><code>${ours}</code></td><td class="unknown">${unknown}</td></tr>`
      : stageRow(name, ours, other, found?.secret ?? null);
  const source = theirs === null ? 'only the digest is sent' : 'what the client must have computed';
  return html`<table class="stages">
<caption>How ${signature} is made, stage by stage</caption>
<thead><tr><th scope="col">Stage</th><th scope="col">Expected <small>what the service computes</small></th>
<th scope="col">Received <small>${source}</small></th></tr></thead>
<tbody>
${stage('Parameters', params, theirs?.params)}
${stage('Message', message, theirs?.message)}
${digestRow(expected, received)}
</tbody>
</table>`;
}

/**
 * `secret` is what the client put in the place of the secret, in words; null where it has the
 * secret itself.
 */
function stageRow(name: string, expected: string, received: string, secret: string | null): Html {
  const at = expected === received && secret !== null ? expected.indexOf(secretLabel) : -1;
  if (at < 0 || secret === null) return differenceRow(name, expected, received);
  return stageView(
    name,
    'differs in the secret',
    markedText(expected, at, secretLabel.length),
    markedText(
      received.replaceAll(secretLabel, () => secret),
      at,
      secret.length,
    ),
  );
}

function differenceRow(name: string, expected: string, received: string): Html {
  if (expected === received) return stageView(name, 'equal', html`${expected}`, html`${received}`);
  const at = alikeLength(expected, received);
  const says = `differs at character ${at + 1}`;
  return stageView(name, says, markedText(expected, at, 1), markedText(received, at, 1));
}

/** The middle of both digests is masked. */
function digestRow(expected: string, received: string): Html {
  const says = expected === received ? 'equal, as far as shown' : 'differs';
  return stageView('Digest', says, html`${expected}`, html`${received}`);
}

function stageView(name: string, says: string, expected: Html, received: Html): Html {
  return html`<tr><th scope="row">${name} <small>${says}</small></th>
<td><code>${expected}</code></td>
<td><code>${received}</code></td></tr>`;
}

/** Marks `length` characters from `at` on, or the end of the text. */
function markedText(text: string, at: number, length: number): Html {
  const marked = [...text.slice(at, at + 2 * length)].slice(0, length).join('');
  if (marked === '') return html`${text}<mark class="end" title="the text ends here"></mark>`;
  return html`${text.slice(0, at)}<mark>${marked}</mark>${text.slice(at + marked.length)}`;
}
