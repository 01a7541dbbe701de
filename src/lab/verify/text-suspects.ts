import { compileRecipe } from '../../core/signing/compile-recipe.js';
import { parseDigest } from '../../core/signing/digest-steps.js';
import { type KeyRule, type Recipe, unlessRefused } from '../../core/signing/recipe.js';
import { parseTemplate } from '../../core/signing/template.js';
import { entriesOf, swapsOf, withSeparator, withValueAt } from './recipe-changes.js';
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

/** Those of its key, of its steps and added values, and of its subs and their keys. */
function innerTexts(recipe: Recipe): InnerText[] {
  const { key, sub, steps, params } = recipe;
  const keyText = (where: string, path: string, { tokens, decode }: KeyRule): InnerText => [
    where,
    tokens,
    (entries) =>
      // A key that is not digested is often no longer hex.
      [...new Set([decode, 'utf8'])].map((as) =>
        withValueAt(recipe, path, { tokens: entries, decode: as }),
      ),
  ];
  const listText = (
    where: string,
    path: string,
    texts: readonly string[],
    start?: string,
  ): InnerText => [
    where,
    texts,
    (entries) => [
      withValueAt(recipe, path, start === undefined ? entries : start + entries.join('')),
    ],
  ];
  return [
    keyText('the key', 'key', key),
    ...Object.entries(sub).flatMap(([name, { message, key: own }]) => [
      listText(`the sub ${name}`, `sub.${name}.message`, message),
      ...(own === undefined ? [] : [keyText(`the key of ${name}`, `sub.${name}.key`, own)]),
    ]),
    ...steps.flatMap((step, index) => {
      const [, start, text = ''] = /^((?:append|prepend):)(.*)$/s.exec(step) ?? [];
      return start === undefined ? [] : [listText('a step', `steps.${index}`, [text], start)];
    }),
    ...Object.entries(params.add).map(
      ([name, text]): InnerText => [
        `the added value ${name}`,
        [text],
        (entries) => [
          withValueAt(recipe, 'params.add', { ...params.add, [name]: entries.join('') }),
        ],
      ],
    ),
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
  ['$path', '$path$[?$query]'],
  ['$path', '$url'],
  ['$url', '$path'],
  ['$query', '$query.sorted'],
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

/**
 * A token that may be taken for another one; without each of its modifiers, and with it twice; with
 * a digest in hex, or in base64 of hex; and always there, if it is optional.
 */
function lessChanged(text: string): string[] {
  return parseTemplate(text, 'message').tokens.flatMap(
    ({ source, name, modifiers, written, optional }) => {
      const inner = optional?.inner ?? written;
      const write = (others: readonly string[]) =>
        text.replace(inner, () =>
          [`\${${name === '' ? source : `${source}:${name}`}}`, ...others].join('.'),
        );
      const [before = '', after = ''] = optional === null ? [] : text.slice(2, -1).split(inner);
      const always = `${before}${inner}${after.split('|', 1)[0]}`;
      const changed = modifiers.flatMap((modifier, index) => [
        write(modifiers.toSpliced(index, 1)),
        write(modifiers.toSpliced(index, 0, modifier)),
        ...(modifier.endsWith(':base64')
          ? [[], ['base64']].map((more) =>
              write(modifiers.toSpliced(index, 1, modifier.replace(':base64', ''), ...more)),
            )
          : []),
      ]);
      const others = replacements.flatMap(([token, other]) =>
        token === inner ? [text.replace(inner, () => other)] : [],
      );
      return [...others, ...(optional === null ? [] : [always, `$[${always}]`]), ...changed];
    },
  );
}

function entryWords(entry: string): string {
  return entry === '' ? 'the empty part' : JSON.stringify(entry);
}

export function joinWords(join: string): string {
  return join === '' ? 'nothing between' : `${JSON.stringify(join)} between`;
}
