import type { Recipe } from '../../core/signing/recipe.js';
import type { Source } from '../../core/signing/recipe-language.js';
import { modifiers, parseTemplates, type Token } from '../../core/signing/template.js';

/**
 * The recipe, or a part of it, with another value at a path, such as `params.order` or `steps.0`.
 */
export function withValueAt<T>(json: T, path: string, value: unknown): T {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return withMember(json, name, value);
  const inner = (json as Record<string, unknown>)[name];
  return withMember(json, name, withValueAt(inner, rest.join('.'), value));
}

function withMember<T>(json: T, name: string, value: unknown): T {
  if (Array.isArray(json)) return json.with(Number(name), value) as T;
  return { ...json, [name]: value };
}

/** The entries of a message; where no text joins them, each token and each text by itself. */
export function entriesOf({ message, join }: Pick<Recipe, 'message' | 'join'>): string[] {
  if (join !== '') return [...message];
  const { parts } = parseTemplates(message, 'message');
  return parts.map((part) => {
    if (typeof part === 'string') return escapeDollars(part);
    return part.written;
  });
}

/** A text as an entry of a message: `$` begins a token there, `$$` stands for it. */
function escapeDollars(text: string): string {
  return text.replaceAll('$', '$$$$');
}

/**
 * The recipe with a modifier after each token of its message, and its texts written by it; with a
 * source, after the tokens of that source alone.
 */
export function withModifier(recipe: Recipe, modifier: string, source?: Source): Recipe {
  const { parts } = parseTemplates(recipe.message, 'message', recipe.join);
  const write = modifiers.get(modifier)?.apply ?? String;
  const message = parts.map((part) => {
    const isMeant = source === undefined || (typeof part !== 'string' && part.source === source);
    if (typeof part === 'string') return escapeDollars(isMeant ? write(part) : part);
    return tokenText(part, isMeant ? [...part.modifiers, modifier] : part.modifiers);
  });
  return { ...recipe, message, join: '' };
}

/** A token with these modifiers. */
export function tokenText(
  { source, name }: Pick<Token, 'source' | 'name'>,
  changes: readonly string[],
): string {
  const token = name === '' ? source : `${source}:${name}`;
  return [`\${${token}}`, ...changes].join('.');
}

/** The entries with another separator in their texts; null where they do not have it. */
export function withSeparator(
  entries: readonly string[],
  separator: string,
  replacement: string,
): string[] | null {
  if (separator === '' || !entries.some((entry) => entry.includes(separator))) return null;
  return entries.map((entry) => entry.replaceAll(separator, replacement));
}

/** Two entries of a list, and the list with these swapped. */
interface Swap {
  readonly first: string;
  readonly second: string;
  readonly swapped: readonly string[];
}

/** Each two entries of a list swapped. */
export function swapsOf(entries: readonly string[]): Swap[] {
  return entries.flatMap((first, firstIndex) =>
    entries.slice(firstIndex + 1).map((second, distance) => {
      const secondIndex = firstIndex + 1 + distance;
      return { first, second, swapped: entries.with(firstIndex, second).with(secondIndex, first) };
    }),
  );
}
