import { Secret } from '../../signing/secret.js';
import { alikeLength } from '../../signing/verify/compare-messages.js';
import { empty, type Html, html } from './html.js';
import type { Reconstruction } from './reconstruct.js';
import { reconstructionOf } from './reconstructions.js';
import type { Rejection } from './request-ring.js';

/** What stands for the secret in what is shown. */
const secretLabel = String(new Secret(''));

/** Why a signature is wrong: each of its stages, as the service computes it beside what was received. */
export function stagesView({ explained, rejected }: Rejection, isOpen: boolean): Html {
  const found = reconstructionOf(rejected);
  const { signature, params, message, expected, received } = explained;
  const theirs = found?.stages ?? null;
  const unknown = found ? 'The difference is inside what is masked.' : 'Not known: it is not sent.';
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
  if (found === undefined) return 'It was not looked into: it is too long, or one of too many.';
  return found === null ? 'None of the usual mistakes gives it by itself.' : join(found, 'says');
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

function stageRow(name: string, expected: string, received: string, otherSecret: boolean): Html {
  const difference = differenceOf(expected, received, otherSecret);
  return stageView(name, difference, [expected, received]);
}

/** Both digests have their middle hidden. */
function digestRow(expected: string, received: string): Html {
  const difference = differenceOf(expected, received, false);
  const says = expected === received ? 'alike, as far as it is shown' : difference.says;
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

/** Where two texts part, as a place to mark in both of them; `at` is -1 for nowhere. */
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
  return { says: 'alike', at, length: 0 };
}

/** So many characters from `at` on are marked, or that the text ends there. */
function markedText(text: string, at: number, length: number): Html {
  if (at < 0) return html`${text}`;
  const marked = [...text.slice(at, at + 2 * length)].slice(0, length).join('');
  if (marked === '') return html`${text}<mark class="end" title="the text ends here"></mark>`;
  return html`${text.slice(0, at)}<mark>${marked}</mark>${text.slice(at + marked.length)}`;
}
