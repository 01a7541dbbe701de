import { encoders, textEncodings } from '../../core/signing/encodings.js';
import { compileParams, type ParamsFormat } from '../../core/signing/params.js';
import type { ParamsRule, Recipe } from '../../core/signing/recipe.js';
import { parseRecipeParts } from '../../core/signing/recipe-parts.js';
import { signerOf } from '../../core/signing/recipe-signer.js';
import type { Signer } from '../../core/signing/signer.js';
import { bytesIn, charsets } from './charsets.js';
import {
  encodedBy,
  encodingWords,
  type LibraryEncoder,
  libraryEncoders,
} from './library-encoders.js';
import { type Suspect, type SuspectRow, suspects } from './suspect.js';

// Mistakes that no recipe describes: each is another signer of the same recipe.

/** The right text, digested as bytes of another charset. */
export function charsetSuspects(recipe: Recipe): Suspect[] {
  const parts = parseRecipeParts(recipe);
  return charsets.flatMap((charset) =>
    suspects(
      'charset',
      'Make the bytes of the text, and its percent-encoding, in UTF-8: ' +
        'name the charset there, such as getBytes(UTF_8).',
      [
        [
          `with the text as bytes of ${charset.name} in place of UTF-8`,
          { signer: signerOf(parts, (message) => bytesIn(charset, message)) },
        ],
      ],
    ),
  );
}

/** Names and values encoded as the functions of common libraries do. */
export function encodedByLibraries(recipe: Recipe): SuspectRow[] {
  return libraryEncoders.map((encoder) => [
    `with names and values ${encoder.how}`,
    { signer: signerWriting(recipe, encodingWriter(recipe.params, encoder)) },
  ]);
}

/** Where a rule encodes the parameters once more, a signer calls the same function there, too. */
export function encodedTwice(recipe: Recipe): SuspectRow[] {
  const { params } = recipe;
  const again = new RegExp(`(\\$(?:params|\\{params\\}))\\.${params.encode}\\b`);
  if (!recipe.message.some((entry) => again.test(entry))) return [];
  const once = { ...recipe, message: recipe.message.map((entry) => entry.replace(again, '$1')) };
  const all = textEncodings.map((like) => ({ how: encodingWords[like], like, writes: {} }));
  return [...all, ...libraryEncoders].map((encoder) => {
    const write = encodingWriter(params, encoder);
    const apply = (text: string) => encodedBy(encoder, text);
    const signer = signerWriting(once, (signed, renderer) =>
      renderer.change(write(signed, renderer), { apply, local: true }),
    );
    return [`with names and values, and then all of them, ${encoder.how}`, { signer }];
  });
}

/** The names alone, another sorting, and a separator too many: no recipe says these. */
export function writtenOtherwise(recipe: Recipe): SuspectRow[] {
  const { params } = recipe;
  const { write } = compileParams(params);
  const encode = encoders[params.encode];
  const namesBy = (separator: string) =>
    signerWriting(recipe, (signed, renderer) =>
      renderer.showable(signed.map(({ name }) => encode(name)).join(separator)),
    );
  const trailing = signerWriting(
    recipe,
    (signed, renderer) => write(signed, renderer) + renderer.showable(params.pairSep),
  );
  const byLowerName = signerWriting(recipe, (signed, renderer) => {
    const named = signed.map((param) => ({ lowerName: param.name.toLowerCase(), param }));
    const sorted = named.toSorted((a, b) => byCodeUnit(a.lowerName, b.lowerName));
    return write(
      sorted.map(({ param }) => param),
      renderer,
    );
  });
  const pairSep = JSON.stringify(params.pairSep);
  return [
    ['with the parameters sorted by name, upper and lower case alike', { signer: byLowerName }],
    ['with the names alone', { signer: namesBy('') }],
    ['with the names alone, and what is between them', { signer: namesBy(params.pairSep) }],
    [`with ${pairSep} after the last pair, too`, { signer: trailing }],
  ];
}

function byCodeUnit(a: string, b: string): number {
  if (a < b) return -1;
  return Number(a > b);
}

/** A signer that writes the parameters as no recipe says. */
function signerWriting(recipe: Recipe, write: ParamsFormat['write']): Signer {
  const parts = parseRecipeParts(recipe);
  return signerOf({ ...parts, params: { ...parts.params, write } });
}

function encodingWriter(params: ParamsRule, encoder: LibraryEncoder): ParamsFormat['write'] {
  return compileParams(params, 'params', (text) => encodedBy(encoder, text)).write;
}
