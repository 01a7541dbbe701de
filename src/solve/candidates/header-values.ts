import type { SignableRequest } from '../../signing/request.js';
import { type Choice, choice, distinctBy, oneIn } from './cost.js';
import { isProof, type ParameterRole, roleOf, weights } from './parameter-roles.js';
import { literal, namedToken, type Piece } from './pieces.js';

/** Extra values that go together, in their order. */
export type HeaderList = Choice<readonly Piece[]>;

/** The extra values of a request, each with the cost of choosing it: those of the app, the time and a nonce first. */
export function headerValues({ extra }: SignableRequest): Piece[] {
  const names = usableNames(extra);
  const weightOf = (name: string) => (names.length <= 3 ? 1 : weights[headerRole(name)]);
  const sum = names.reduce((total, name) => total + weightOf(name), 0);
  return names.map((name) => ({ ...headerPiece(extra, name, ''), bits: oneIn(sum / weightOf(name)) }));
}

function usableNames(extra: SignableRequest['extra']): string[] {
  return Object.keys(extra).filter((name) => namedToken('extra', name) !== null);
}

function headerRole(name: string): ParameterRole {
  const words = name.replace(/^x-/i, '').split('-');
  const whole = roleOf(words.join('_'));
  return whole === 'other' ? roleOf(words.at(-1) ?? '') : whole;
}

/** Labels of a header in a message: its name in lower case or as it is, then a separator. */
const labels: readonly Choice<(name: string) => string>[] = [
  choice((name) => `${name.toLowerCase()}:`, 2),
  choice((name) => `${name}:`, 3),
  choice((name) => `${name}=`, 3.5),
  choice((name) => `${name.toLowerCase()}=`, 4),
  choice((name) => `${name.toLowerCase()}: `, 4.5),
  choice((name) => `${name}: `, 5),
];

/** Up to this many values are tried in every order. */
const mostPermuted = 4;
/** The most values of the app, the time and a nonce that are a choice of their own. */
const mostProofs = 5;

/**
 * Two or more extra values. A sample file names a value only if it is signed, so that all of them are likelier than
 * some; in the order of the request, by name, or, of few, in any order; with labels or without.
 */
export function headerLists({ extra }: SignableRequest): HeaderList[] {
  const names = usableNames(extra);
  const orders = subsetsOf(names).flatMap(({ value, bits }) => ordersOf(value, bits));
  const plain = orders.map(({ value, bits }) =>
    choice(
      value.map((name): Piece => headerPiece(extra, name, '')),
      bits,
    ),
  );
  const labelled = [...names.map((name) => choice([name], 2 + oneIn(names.length))), ...orders].flatMap(
    ({ value, bits }) =>
      labels.map((label) =>
        choice(
          value.map((name) => headerPiece(extra, name, label.value(name))),
          bits + label.bits,
        ),
      ),
  );
  return distinctBy([...plain, ...labelled], ({ value }) => value.map(({ tokens }) => tokens).join('\0'));
}

/** One entry of a message, so that a separator of the entries does not come between label and value. */
function headerPiece(extra: SignableRequest['extra'], name: string, label: string): Piece {
  const token = namedToken('extra', name) ?? '';
  return { tokens: [literal(label).tokens.join('') + token], text: label + (extra[name] ?? ''), bits: 0 };
}

/**
 * All names; those of the app, the time and a nonce, or all of these but one; all but one; of a few, every two. None
 * where there are fewer than two.
 */
function subsetsOf(names: readonly string[]): Choice<readonly string[]>[] {
  if (names.length < 2) return [];
  const proofs = names.filter((name) => isProof(headerRole(name)));
  const isApart = proofs.length > 1 && proofs.length < names.length && proofs.length <= mostProofs;
  const butOneProof = proofs.map((name) => proofs.filter((other) => other !== name));
  const proof = !isApart
    ? []
    : [
        choice(proofs, 0.7),
        ...butOneProof
          .filter((list) => list.length >= 2)
          .map((list) => choice(list, 1.5 + oneIn(proofs.length))),
      ];
  const butOne = names.map((name) => names.filter((other) => other !== name));
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((two) => [one, two]));
  const fewer = [...butOne, ...(names.length <= 4 ? pairs : [])].filter((list) => list.length >= 2);
  const rest = fewer.map((list) => choice(list, 1.5 + oneIn(fewer.length)));
  return distinctBy([choice(names, 0), ...proof, ...rest], ({ value }) => value.join('\0'));
}

function ordersOf(names: readonly string[], bits: number): Choice<readonly string[]>[] {
  const sorted = [...names].sort();
  const lower = [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const others = names.length <= mostPermuted ? permutations(names) : [];
  const all = [
    choice(names, bits + 0.5),
    choice(sorted, bits + 1.5),
    choice(lower, bits + 1.5),
    ...others.map((list) => choice(list, bits + 1 + oneIn(others.length))),
  ];
  return distinctBy(all, ({ value }) => value.join('\0'));
}

function permutations(names: readonly string[]): (readonly string[])[] {
  if (names.length < 2) return [names];
  return names.flatMap((name) =>
    permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  );
}
