import { parseDigest } from '../../core/signing/digest-steps.js';
import type { Recipe } from '../../core/signing/recipe.js';
import { parseTemplate } from '../../core/signing/template.js';
import { entriesOf, swapsOf, tokenText, withSeparator, withValueAt } from './recipe-changes.js';
import { joiners, type Suspect, suspectsByRecipe, type Variant } from './suspect.js';

/** The most entries of a message, or parameters, that are changed one by one. */
export const maxEntries = 64;

/** A message with other entries. */
interface MessageVariant {
  /** Completes the sentence "It was signed …". */
  readonly how: string;
  readonly entries: readonly string[];
  /** Another text between the entries; absent where it is the same. */
  readonly join?: string;
}

/**
 * Mistakes in the texts of a rule: its message, its steps, its key, and the parts that are digested
 * by themselves.
 */
export function messageVariants(recipe: Recipe): Suspect[] {
  const { message, join, steps } = recipe;
  const parts = entriesOf(recipe);
  const divided = parts.length > message.length ? [message, parts] : [message];
  return [
    ...suspectsByRecipe(
      'message',
      'Write the message as the recipe says.',
      divided
        .flatMap((entries) => entryVariants(entries.slice(0, maxEntries), join))
        .map(({ how, ...variant }) => [
          how,
          { ...recipe, message: variant.entries, join: variant.join ?? join },
        ]),
    ),
    ...suspectsByRecipe(
      'part',
      'Write the key, each step, and each part that is digested by itself, as the recipe says.',
      innerTexts(recipe).flatMap(innerVariants),
    ),
    ...suspectsByRecipe(
      'step',
      'Take each step that the recipe says: a digest is often digested again.',
      steps.map((step, index) => [
        `without the step ${JSON.stringify(step)}`,
        { ...recipe, steps: steps.toSpliced(index, 1) },
      ]),
    ),
    ...suspectsByRecipe(
      'line-end',
      'Digest the text alone: a command that prints a text or a digest adds a line break.',
      steps.flatMap((step, index): Variant[] => {
        if (parseDigest(step) === null) return [];
        const digested = index === 0 ? 'the message' : 'a digest that is digested again';
        const lengthened = { ...recipe, steps: steps.toSpliced(index, 0, 'append:\n') };
        return [[`with a line break at the end of ${digested}`, lengthened]];
      }),
    ),
  ];
}

/** A text of a recipe beside its message. */
interface InnerText {
  /** A noun for it: `the key`. */
  readonly noun: string;
  readonly texts: readonly string[];
  /** The recipe with other entries there; several where it has several of this text. */
  with(entries: readonly string[]): readonly Recipe[];
}

function innerVariants(inner: InnerText): Variant[] {
  const entries = entriesOf({ message: inner.texts, join: '' }).slice(0, maxEntries);
  return entryVariants(entries, '', inner.noun)
    .filter(({ join }) => join === undefined)
    .flatMap((variant) =>
      inner.with(variant.entries).map((recipe): Variant => [variant.how, recipe]),
    );
}

/** Those of its key, of its steps and of its added values. */
function innerTexts(recipe: Recipe): InnerText[] {
  const { key, steps, params } = recipe;
  // A key that is not digested is often no longer hex.
  const decodings = [...new Set([key.decode, 'utf8' as const])];
  const ofKey: InnerText = {
    noun: 'the key',
    texts: key.tokens,
    with: (tokens) => decodings.map((decode) => ({ ...recipe, key: { tokens, decode } })),
  };
  const ofSteps = steps.flatMap((step, index): InnerText[] => {
    const [, start, text = ''] = /^((?:append|prepend):)(.*)$/s.exec(step) ?? [];
    if (start === undefined) return [];
    return [
      {
        noun: 'a step',
        texts: [text],
        with: (entries) => [withValueAt(recipe, `steps.${index}`, start + entries.join(''))],
      },
    ];
  });
  const ofAddedValues = Object.entries(params.add).map(
    ([name, text]): InnerText => ({
      noun: `the added value ${name}`,
      texts: [text],
      with: (entries) => {
        const add = { ...params.add, [name]: entries.join('') };
        return [{ ...recipe, params: { ...params, add } }];
      },
    }),
  );
  return [ofKey, ...ofSteps, ...ofAddedValues];
}

/**
 * Each entry of the message left out, each two swapped, other tokens for it, other texts between, an
 * extra line break.
 */
function entryVariants(
  entries: readonly string[],
  join: string,
  noun = 'the message',
): MessageVariant[] {
  const last = entries.length - 1;
  if (last < 0) return [];
  return [
    ...otherJoins(entries, join, noun),
    {
      how: `with a line break at the end of ${noun}`,
      entries: entries.with(last, `${entries[last]}\n`),
    },
    {
      how: `with ${joinWords(join)} the last part and nothing after it`,
      entries: [...entries, ''],
    },
    ...otherMarks(entries),
    ...[...entries.keys()].flatMap((index) => changedEntry(entries, index, noun)),
    ...swapsOf(entries).map(({ first, second, swapped }) => ({
      how: `with ${entryWords(first)} and ${entryWords(second)} swapped`,
      entries: swapped,
    })),
  ];
}

/** The entries with another text between them, and perhaps in them, too. */
function otherJoins(entries: readonly string[], join: string, noun: string): MessageVariant[] {
  if (entries.length < 2) return [];
  return joiners
    .filter((joiner) => joiner !== join)
    .flatMap((joiner): MessageVariant[] => {
      const how = `with ${joinWords(joiner)} the parts of ${noun}`;
      const between = { how, entries, join: joiner };
      const inside = withSeparator(entries, join, joiner);
      if (inside === null) return [between];
      return [between, { how: `${how}, and in them`, entries: inside, join: joiner }];
    });
}

/** The entries with another text for each that stands between others. */
function otherMarks(entries: readonly string[]): MessageVariant[] {
  const marks = new Set(entries.filter((entry) => entry !== '' && joiners.includes(entry)));
  return [...marks].flatMap((mark) =>
    joiners
      .filter((joiner) => joiner !== mark)
      .map((joiner) => ({
        how: `with ${entryWords(joiner)} in the place of ${entryWords(mark)}`,
        entries: entries.map((entry) => (entry === mark ? joiner : entry)),
      })),
  );
}

/** The entries without one of them, with it alone, and with something else in its place. */
function changedEntry(entries: readonly string[], index: number, noun: string): MessageVariant[] {
  const entry = entries[index] ?? '';
  const words = entryWords(entry);
  const variants: MessageVariant[] = [
    { how: `without ${words} in ${noun}`, entries: entries.toSpliced(index, 1) },
  ];
  if (entries.length > 2)
    variants.push({ how: `with ${words} alone in ${noun}`, entries: [entry] });
  if (entry !== '') {
    variants.push({
      how: `with nothing in the place of ${words}`,
      entries: entries.with(index, ''),
    });
  }
  for (const { how, changed } of replacementsIn(entry)) {
    variants.push({ how, entries: entries.with(index, changed) });
  }
  return variants;
}

/** Tokens that are taken one for the other. */
const replacements = [
  ['$path', '$path?$query'],
  ['$endpoint', '$endpoint?$query'],
  ['$url', '$url?$query'],
  ['$path', '$url'],
  ['$path', '$endpoint'],
  ['$endpoint', '$path'],
  ['$endpoint', '$url'],
  ['$url', '$path'],
  ['$query', '$params'],
  ['$params', '$query'],
  ['$body', '$body.md5'],
  ['$body', '$body.sha256'],
  ['$body.sha256', '$body'],
  ['$body.sha512', '$body'],
  ['$body.md5', '$body'],
] as const;

/**
 * The entry without each of its parts, and with each replaced that may be taken for another one, or
 * without a change.
 */
function replacementsIn(entry: string): { readonly how: string; readonly changed: string }[] {
  const parts = entriesOf({ message: [entry], join: '' });
  return parts.flatMap((part, index) => {
    const likePart = lessChanged(part);
    if (parts.length > 1) likePart.unshift('');
    return likePart.map((replacement) => ({
      how: `with ${entryWords(replacement)} in the place of ${entryWords(part)}`,
      changed: parts.with(index, replacement).join(''),
    }));
  });
}

/** A token that may be taken for another one; without each of its modifiers, and with it twice. */
function lessChanged(text: string): string[] {
  return parseTemplate(text, 'message').tokens.flatMap((token) => {
    const { modifiers, written } = token;
    const write = (changes: readonly string[]) =>
      text.replace(written, () => tokenText(token, changes));
    const replaced = replacements
      .filter(([replaceable]) => replaceable === written)
      .map(([, replacement]) => text.replace(written, () => replacement));
    const changed = modifiers.flatMap((modifier, index) => [
      write(modifiers.toSpliced(index, 1)),
      write(modifiers.toSpliced(index, 0, modifier)),
    ]);
    return [...replaced, ...changed];
  });
}

function entryWords(entry: string): string {
  if (entry === '') return 'the empty part';
  return JSON.stringify(entry);
}

/** What is between entries, or between pairs: `"&" between`. */
export function joinWords(join: string): string {
  if (join === '') return 'nothing between';
  return `${JSON.stringify(join)} between`;
}
