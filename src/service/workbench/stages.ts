import { secretLabel } from '../../core/signing/secret.js';
import { alikeLength } from '../../lab/verify/compare-messages.js';
import { sentencesOf } from '../../lab/verify/verify-signature.js';
import { empty, type Html, html } from './html.js';
import { reconstructionOf } from './reconstruct.js';
import type { Rejection } from './request-ring.js';

export function causeOf({ explained, rejected }: Rejection): Html {
  const cause = sentencesOfCause(rejected);
  return html`<strong>${explained.signature} is wrong.</strong> ${cause}`;
}

function sentencesOfCause(rejected: Rejection['rejected']): string {
  const reconstruction = reconstructionOf(rejected);
  if (reconstruction === undefined) return 'Not analyzed: it is too long, or one of too many.';
  if (reconstruction === null) return 'No single common mistake explains it.';
  return sentencesOf(reconstruction.finding, 'says');
}

export function adviceOf({ rejected }: Rejection): Html {
  const reconstruction = reconstructionOf(rejected);
  if (!reconstruction) return empty;
  return html`<p class="advice">${sentencesOf(reconstruction.finding, 'advice')}</p>`;
}

/** The stages as the service computes them and as the client did. */
export function stagesView({ explained, rejected }: Rejection): Html {
  const reconstruction = reconstructionOf(rejected);
  const { signature, params, message, expected, received } = explained;
  const stages = reconstruction?.stages ?? null;
  const secret = reconstruction?.secret ?? null;
  const unknown = reconstruction
    ? 'The difference is in the masked part.'
    : 'Unknown: a request does not contain it.';
  const stageRow = (name: string, ours: string, theirs: string | undefined) => {
    if (theirs === undefined) return unknownRow(name, ours, unknown);
    return comparedRow(name, ours, theirs, secret);
  };
  const source = stages === null ? 'only the digest is sent' : 'what the client must have computed';
  return html`<table class="stages">
<caption>How ${signature} is made, stage by stage</caption>
<thead><tr><th scope="col">Stage</th>
<th scope="col">Expected <small>what the service computes</small></th>
<th scope="col">Received <small>${source}</small></th></tr></thead>
<tbody>
${stageRow('Parameters', params, stages?.params)}
${stageRow('Message', message, stages?.message)}
${digestRow(expected, received)}
</tbody>
</table>`;
}

/** A stage of which `reason` says why nothing is known of the client's. */
function unknownRow(name: string, expected: string, reason: string): Html {
  return html`<tr><th scope="row">${name}</th><td><code>${expected}</code></td>
<td class="unknown">${reason}</td></tr>`;
}

/**
 * `secret` is what the client put in the place of the secret, in words; null where it has the
 * secret itself.
 */
function comparedRow(
  name: string,
  expected: string,
  received: string,
  secret: string | null,
): Html {
  if (secret === null || expected !== received) return differenceRow(name, expected, received);
  const start = expected.indexOf(secretLabel);
  if (start < 0) return differenceRow(name, expected, received);
  const signed = received.replaceAll(secretLabel, () => secret);
  return stageView(
    name,
    'differs in the secret',
    markedText(expected, start, secretLabel.length),
    markedText(signed, start, secret.length),
  );
}

function differenceRow(name: string, expected: string, received: string): Html {
  if (expected === received) return stageView(name, 'equal', html`${expected}`, html`${received}`);
  const start = alikeLength(expected, received);
  const says = `differs at character ${start + 1}`;
  return stageView(name, says, markedText(expected, start, 1), markedText(received, start, 1));
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

/** Marks `length` characters from `start` on, or the end of the text. */
function markedText(text: string, start: number, length: number): Html {
  const marked = [...text.slice(start, start + 2 * length)].slice(0, length).join('');
  if (marked === '') return html`${text}<mark class="end" title="the text ends here"></mark>`;
  return html`${text.slice(0, start)}<mark>${marked}</mark>${text.slice(start + marked.length)}`;
}
