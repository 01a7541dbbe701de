import { sentLists } from './candidates/arrangements.js';
import { choice, sortByBits } from './candidates/cost.js';
import { labels } from './candidates/header-values.js';
import { usualParams } from './candidates/hinted-items.js';
import {
  fuse,
  joinPieces,
  literal,
  namedToken,
  type Piece,
  percentEncoded,
  separators,
} from './candidates/pieces.js';
import { secretNames } from './candidates/secrets.js';
import { tokensOf } from './changes.js';
import type { SolveTask } from './tasks.js';

/** What is known of the recipe around an open entry. */
interface OpenPlace {
  readonly constants: readonly string[];
  /** Whether an entry may say how the block of parameters is written. */
  readonly isBlockOpen: boolean;
  /** Whether nothing else is open. */
  readonly isAlone: boolean;
  readonly join: string;
}

/** Words that documents put before a part of the message. */
const words = [
  ['$body', 'Digest', 'Body', 'Content-MD5', 'Content-SHA256', 'X-Content-SHA256'],
  ['$path', 'Request-Target', 'Path', 'URI'],
  ['$host', 'Host'],
  ['$method', 'Method'],
] as const;

/** A part, alone and behind its name, or behind what documents call it. */
function labelled(piece: Piece): Piece[] {
  const token = piece.tokens.join('');
  const [, name] = /^\$\{?(?:param|extra):([^}]+)\}?$/.exec(token) ?? [];
  const own = words.find(([source]) => token.startsWith(source))?.slice(1) ?? [];
  const names = name === undefined ? own : [name];
  return labels.flatMap(({ value, bits }) =>
    value('') === '' ? [piece] : names.map((word) => fuse(literal(value(word), bits + 2), piece)),
  );
}

/** The parts of a request, each as one entry. */
export function requestParts(task: SolveTask): Piece[] {
  const parts = tokensOf(task);
  const encoded = parts.filter(({ tokens }) => /^\$(?:path|url)$/.test(tokens.join())).map(percentEncoded);
  return [...parts, ...encoded.map((piece) => ({ ...piece, bits: piece.bits + 3 }))];
}

function ofToken(token: string, bits: number): Piece {
  return { tokens: [token], text: '', bits };
}

const secret = ofToken('$secret', 2);
const secretForms = ['md5', 'MD5', 'sha1', 'sha256', 'base64', 'upper', 'rfc3986'].map((name) =>
  ofToken(`$secret.${name}`, 6),
);

/**
 * What an open entry of a message or of a key can be, the likeliest first: a part; where nothing else is open, also
 * two parts or several values with a text between them.
 */
export function openEntries(task: SolveTask, { constants, isBlockOpen, isAlone, join }: OpenPlace): Piece[] {
  const { params } = task.request;
  const blocks = (isBlockOpen ? usualParams : [undefined]).map((rule, index) => ({
    ...ofToken('$params', 2 + index / 2),
    ...(rule !== undefined && { params: rule }),
  }));
  const parts = [...requestParts(task), secret, ...blocks];
  const named = secretNames(params).flatMap(({ value, bits }) =>
    ['', '&'].map((before) => literal(`${before}${value}=`, bits + 3)),
  );
  const own = parts.flatMap(labelled);
  const single = [
    ...own,
    ...secretForms,
    ofToken('', 6),
    ...constants.map((text) => literal(text, 2)),
    ...named,
  ];
  if (!isAlone) return sortByBits(single);
  const between = [
    choice('', 1),
    choice(join, 1),
    choice('?', 4),
    ...separators.filter(({ bits }) => bits < 4),
  ];
  const runs = sentLists(params).map(({ value, bits }) => ({
    bits,
    pieces: value.map((name) => ofToken(namedToken('param', name) ?? '', 0)),
  }));
  return sortByBits([
    ...single,
    ...[...own, ...named].map((part) => fuse(part, secret)),
    ...between.flatMap(({ value: text, bits }) => {
      const separator = literal(text, bits + 1);
      const pairs = parts.flatMap((one) =>
        parts.filter((other) => other !== one).map((other) => fuse(one, separator, other)),
      );
      return [
        ...pairs,
        ...runs.map((run) => ({ ...fuse(joinPieces(run.pieces, text)), bits: run.bits + bits })),
      ];
    }),
  ]);
}
