import { compileRecipe } from '../../core/signing/compile-recipe.js';
import { parseDigest } from '../../core/signing/digest-steps.js';
import { type Recipe, unlessRefused } from '../../core/signing/recipe.js';
import { parseTemplate } from '../../core/signing/template.js';
import { entriesOf, swapsOf, tokenText, withSeparator, withValueAt } from './recipe-changes.js';
import { type Suspect, suspects } from './suspect.js';

export type Variant = readonly [how: string, recipe: Recipe];

/**
 * Suspects with one remedy, each with another recipe. Not every variant is one that the language
 * takes.
 */
export function kind(id: string, advice: string, variants: readonly Variant[]): Suspect[] {
  return variants.flatMap(([how, recipe]) => {
    const signer = unlessRefused(() => compileRecipe(recipe));
    return signer === null ? [] : suspects(id, advice, [[how, { signer }]]);
  });
}

export const maxEntries = 64;
export const joiners = ['', '\n', '&', '|', ':', ',', ' ', '.', '-', '_', ';', '\r\n'];

/** A message in other words, and the text between its entries. */
type MessageVariant = readonly [how: string, entries: readonly string[], join?: string];

/**
 * Mistakes in the texts of a rule: its message, its steps, its key, and the parts that are digested
 * by themselves.
 */
export function messageVariants(recipe: Recipe): Suspect[] {
  const { message, join, steps } = recipe;
  const parts = entriesOf(recipe);
  const divided = parts.length > message.length ? [message, parts] : [message];
  return [
    ...kind(
      'message',
      'Write the message as the recipe says.',
      divided
        .flatMap((entries) => entryVariants(entries.slice(0, maxEntries), join))
        .map(([how, entries, between = join]) => [
          how,
          { ...recipe, message: entries, join: between },
        ]),
    ),
    ...kind(
      'part',
      'Write the key, each step, and each part that is digested by itself, as the recipe says.',
      innerTexts(recipe).flatMap(([where, texts, put]) =>
        entryVariants(entriesOf({ message: texts, join: '' }).slice(0, maxEntries), '', where)
          .filter(([, , between]) => between === undefined)
          .flatMap(([how, entries]) => put(entries).map((changed): Variant => [how, changed])),
      ),
    ),
    ...kind(
      'step',
      'Take each step that the recipe says: a digest is often digested again.',
      steps.map((step, index) => [
        `without the step ${JSON.stringify(step)}`,
        { ...recipe, steps: steps.toSpliced(index, 1) },
      ]),
    ),
    ...kind(
      'line-end',
      'Digest the text alone: a command that prints a text or a digest adds a line break.',
      steps.flatMap((step, index): Variant[] => {
        const place = index === 0 ? 'the message' : 'a digest that is digested again';
        const lengthened = { ...recipe, steps: steps.toSpliced(index, 0, 'append:\n') };
        return parseDigest(step) === null
          ? []
          : [[`with a line break at the end of ${place}`, lengthened]];
      }),
    ),
  ];
}

/** A text of a recipe beside its message, and the recipe with other entries there. */
type InnerText = readonly [
  where: string,
  texts: readonly string[],
  put: (entries: readonly string[]) => readonly Recipe[],
];

/** Those of its key, of its steps and of its added values. */
function innerTexts(recipe: Recipe): InnerText[] {
  const { key, steps, params } = recipe;
  // A key that is not digested is often no longer hex.
  const decodings = [...new Set([key.decode, 'utf8'])];
  return [
    [
      'the key',
      key.tokens,
      (tokens) => decodings.map((decode) => withValueAt(recipe, 'key', { tokens, decode })),
    ],
    ...steps.flatMap((step, index): InnerText[] => {
      const [, start, text = ''] = /^((?:append|prepend):)(.*)$/s.exec(step) ?? [];
      if (start === undefined) return [];
      const put = (entries: readonly string[]) => start + entries.join('');
      return [
        ['a step', [text], (entries) => [withValueAt(recipe, `steps.${index}`, put(entries))]],
      ];
    }),
    ...Object.entries(params.add).map(([name, text]): InnerText => {
      const put = (entries: readonly string[]) => ({ ...params.add, [name]: entries.join('') });
      return [
        `the added value ${name}`,
        [text],
        (entries) => [withValueAt(recipe, 'params.add', put(entries))],
      ];
    }),
  ];
}

/**
 * Each entry of the message left out, each two swapped, other tokens for it, other texts between, a
 * line break more.
 */
function entryVariants(
  entries: readonly string[],
  join: string,
  where = 'the message',
): MessageVariant[] {
  const last = entries.length - 1;
  if (last < 0) return [];
  const variants: MessageVariant[] = [
    ...joiners
      .filter((other) => entries.length > 1 && other !== join)
      .flatMap((other): MessageVariant[] => {
        const how = `with ${joinWords(other)} the parts of ${where}`;
        const inside = withSeparator(entries, join, other);
        return [
          [how, entries, other],
          ...(inside ? [[`${how}, and in them`, inside, other] as const] : []),
        ];
      }),
    [`with a line break at the end of ${where}`, entries.with(last, `${entries[last]}\n`)],
    [`with ${joinWords(join)} the last part and nothing behind it`, [...entries, '']],
  ];
  for (const mark of new Set(entries.filter((entry) => entry !== '' && joiners.includes(entry))))
    for (const other of joiners.filter((one) => one !== mark))
      variants.push([
        `with ${entryWords(other)} in the place of ${entryWords(mark)}`,
        entries.map((entry) => (entry === mark ? other : entry)),
      ]);
  for (const [index, entry] of entries.entries()) {
    variants.push([`without ${entryWords(entry)} in ${where}`, entries.toSpliced(index, 1)]);
    if (entries.length > 2) variants.push([`with ${entryWords(entry)} alone in ${where}`, [entry]]);
    if (entry !== '')
      variants.push([`with nothing in the place of ${entryWords(entry)}`, entries.with(index, '')]);
    for (const [how, changed] of replacementsIn(entry))
      variants.push([how, entries.with(index, changed)]);
  }
  for (const [one, other, swapped] of swapsOf(entries))
    variants.push([`with ${entryWords(one)} and ${entryWords(other)} swapped`, swapped]);
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
function replacementsIn(entry: string): (readonly [how: string, entry: string])[] {
  const parts = entriesOf({ message: [entry], join: '' });
  return parts.flatMap((part, index) =>
    [...(parts.length > 1 ? [''] : []), ...lessChanged(part)].map((other) => [
      `with ${entryWords(other)} in the place of ${entryWords(part)}`,
      parts.with(index, other).join(''),
    ]),
  );
}

/** A token that may be taken for another one; without each of its modifiers, and with it twice. */
function lessChanged(text: string): string[] {
  return parseTemplate(text, 'message').tokens.flatMap((token) => {
    const { modifiers, written } = token;
    const write = (changes: readonly string[]) =>
      text.replace(written, () => tokenText(token, changes));
    const others = replacements.flatMap(([known, other]) =>
      known === written ? [text.replace(written, () => other)] : [],
    );
    const changed = modifiers.flatMap((modifier, index) => [
      write(modifiers.toSpliced(index, 1)),
      write(modifiers.toSpliced(index, 0, modifier)),
    ]);
    return [...others, ...changed];
  });
}

function entryWords(entry: string): string {
  return entry === '' ? 'the empty part' : JSON.stringify(entry);
}

export function joinWords(join: string): string {
  return join === '' ? 'nothing between' : `${JSON.stringify(join)} between`;
}
