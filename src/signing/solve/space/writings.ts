import type { TextEncoding } from '../../encodings.js';
import type { Case } from '../../letter-case.js';
import { compileParamText } from '../../param-text.js';
import type { ParamsRule } from '../../recipe.js';
import { recipeDefaults } from '../../recipe.js';
import type { Param } from '../../request.js';
import { distinctBy, sortByBits, type Weighed } from './choice.js';

/** How names and values are written. */
export interface Writing extends Weighed {
  readonly rule: Pick<ParamsRule, 'escape' | 'encode' | 'case'>;
  readonly write: (text: string) => string;
}

const encodings: readonly (readonly [TextEncoding, number])[] = [
  ['none', 0.4],
  ['form', 3.3],
  ['rfc3986', 3.3],
  ['form-dotnet', 6],
];

const foldings: readonly (readonly [Case, number])[] = [
  ['none', 0.1],
  ['lower', 5],
  ['upper', 5],
];

/** Texts that rules are known to replace. */
const escapes: readonly (readonly [ParamsRule['escape'], number])[] = [
  [{}, 0],
  [{ '&': '_', '=': '_' }, 8],
  [{ '\\': '\\\\', ':': '\\:' }, 8],
  [{ '\\': '\\\\', '"': '\\"' }, 8],
  [{ ' ': '' }, 9],
  [{ '/': '\\/' }, 9],
];

/** The likeliest first; an escape takes part where it finds something to replace in the parameters. */
export function writings(params: readonly Param[]): Writing[] {
  const everything = params.flat().join('\n');
  const useful = escapes.filter(
    ([replaced]) =>
      Object.keys(replaced).length === 0 || Object.keys(replaced).some((text) => everything.includes(text)),
  );
  return sortByBits(
    useful.flatMap(([replaced, escapeBits]) =>
      encodings.flatMap(([encode, encodeBits]) =>
        foldings.map(([fold, foldBits]) => {
          const rule = { escape: replaced, encode, case: fold };
          const write = compileParamText({ ...recipeDefaults.params, ...rule });
          return {
            rule,
            write: fold === 'none' && encode === 'none' && escapeBits === 0 ? write : remember(write),
            bits: escapeBits + encodeBits + foldBits,
          };
        }),
      ),
    ),
  );
}

/** The writings that differ in what they make of the parameters. */
export function distinctWritings(params: readonly Param[]): Writing[] {
  const everything = params.flat();
  return distinctBy(writings(params), ({ write }) => everything.map(write).join('\0'));
}

/** The same few texts are written in thousands of blocks. */
function remember(write: (text: string) => string): (text: string) => string {
  const written = new Map<string, string>();
  return (text) => {
    const known = written.get(text);
    if (known !== undefined) return known;
    const made = write(text);
    written.set(text, made);
    return made;
  };
}
