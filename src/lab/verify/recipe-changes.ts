import type { Recipe } from '../../core/signing/recipe.js';
import type { Source } from '../../core/signing/recipe-language.js';
import { modifiers, parseTemplates, type Token } from '../../core/signing/template.js';

/**
 * The recipe, or a part of it, with another value at a path, such as `params.order` or `steps.0`.
 */
export function withValueAt<T>(json: T, path: string, value: unknown): T {
  const [name = '', ...rest] = path.split('.');
  const inner = (json as Record<string, unknown>)[name];
  const changed = rest.length === 0 ? value : withValueAt(inner, rest.join('.'), value);
  return (
    Array.isArray(json) ? json.with(Number(name), changed) : { ...json, [name]: changed }
  ) as T;
}

/** The entries of a message; where no text joins them, each token and each text by itself. */
export function entriesOf({ message, join }: Pick<Recipe, 'message' | 'join'>): string[] {
  if (join !== '') return [...message];
  const { parts } = parseTemplates(message, 'message');
  return parts.map((part) =>
    typeof part === 'string' ? part.replaceAll('$', '$$$$') : part.written,
  );
}

/**
 * The recipe with a modifier behind each token of its message, or behind one of them, where texts
 * stay as they are.
 */
export function withModifier(recipe: Recipe, modifier: string, source?: Source): Recipe {
  const { parts } = parseTemplates(recipe.message, 'message', recipe.join);
  const write = modifiers.get(modifier)?.apply ?? String;
  const message = parts.map((part) => {
    if (typeof part === 'string')
      return (source === undefined ? write(part) : part).replaceAll('$', '$$$$');
    const isMeant = source === undefined || part.source === source;
    return tokenText(part, isMeant ? [...part.modifiers, modifier] : part.modifiers);
  });
  return { ...recipe, message, join: '' };
}

/** A token with these modifiers. */
export function tokenText(
  { source, name }: Pick<Token, 'source' | 'name'>,
  changes: readonly string[],
): string {
  return [`\${${name === '' ? source : `${source}:${name}`}}`, ...changes].join('.');
}

/** The entries with another separator in their texts; null where they do not have it. */
export function withSeparator(
  entries: readonly string[],
  separator: string,
  other: string,
): string[] | null {
  const isInside = separator !== '' && entries.some((entry) => entry.includes(separator));
  return isInside ? entries.map((entry) => entry.replaceAll(separator, other)) : null;
}

/** Each two entries, and the list with these swapped. */
export function swapsOf(entries: readonly string[]): (readonly [string, string, string[]])[] {
  return entries.flatMap((one, from) =>
    entries
      .slice(from + 1)
      .map(
        (other, index) =>
          [one, other, entries.with(from, other).with(from + 1 + index, one)] as const,
      ),
  );
}
