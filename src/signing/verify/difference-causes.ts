import type { Separators } from './compare-messages.js';
import { pairCauses } from './pair-causes.js';
import { textCause } from './text-cause.js';

/** The label that stands for the secret. */
const label = '<secret>';

/** Why theirs is not ours, in words. */
export function findCauses(ours: string, theirs: string, separators: Separators): string[] {
  const whole = textCause(ours, theirs);
  if (whole !== null) return [`${whole}.`];
  if (withoutSecret(ours, separators) === withoutSecret(theirs, separators)) return [secretCause(theirs)];
  const causes = pairCauses(ours, theirs, separators);
  return (causes.length > 0 ? causes : stretchCause(ours, theirs)).map((cause) => `${cause}.`);
}

/** A stretch that only one of the texts has. */
function stretchCause(ours: string, theirs: string): string[] {
  const [short, long, words] =
    ours.length < theirs.length ? [ours, theirs, 'Theirs has also'] : [theirs, ours, 'Theirs leaves out'];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  const rest = short.slice(start);
  return long.endsWith(rest)
    ? [`${words} ${JSON.stringify(long.slice(start, long.length - rest.length))}`]
    : [];
}

function secretCause(theirs: string): string {
  return theirs.includes(label)
    ? 'The secret stands at another place, or under another name.'
    : 'Theirs has no secret in it, or another one than ours.';
}

/** The parameters alone: pairs that hold the secret are left out, and a secret that is glued on is cut away. */
function withoutSecret(text: string, { pairSep, kvSep }: Separators): string {
  if (pairSep === '') return text.replaceAll(label, '');
  const holdsSecret = (pair: string) => pair === label || (kvSep !== '' && pair.endsWith(kvSep + label));
  return text
    .split(pairSep)
    .filter((pair) => !holdsSecret(pair))
    .join(pairSep)
    .replaceAll(label, '');
}
