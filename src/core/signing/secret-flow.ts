import type { KeyedMessage, Step } from './digest-steps.js';
import type { ParamsFormat } from './params.js';
import { fieldPath, isByPair, type ParamsRule, type Recipe, RecipeError } from './recipe.js';
import type { Source } from './recipe-language.js';
import type { Modifier, Template, Token } from './template.js';

const wholeHint =
  'A digest of a part of the secret gives that part away: digest the whole secret first, or sign by a module.';

/**
 * The form in which a text holds the secret: not at all or digested, as characters, or in base64.
 */
const holdings = ['none', 'text', 'base64'] as const;
type Holding = (typeof holdings)[number];

/**
 * Information flow of the secret: every digest is one of the whole secret, or of nothing of it. A
 * digest of a part leaves the machine with the request, and the part is found by trial. Letter case
 * may be lost: documented rules do so.
 *
 * @throws RecipeError for a recipe that cuts, merges or compares the secret before it is digested
 */
export function checkSecretFlow(
  { params, encode }: Pick<Recipe, 'params' | 'encode'>,
  main: KeyedMessage,
  subs: ReadonlyMap<string, KeyedMessage>,
  { added, pairEnd }: Pick<ParamsFormat, 'added' | 'pairEnd'>,
  field: string,
): void {
  const at = (name: string) => fieldPath(field, name);
  const addedHoldings = added.map(({ name, value }) =>
    holdingOf(value, ofSecretAlone, at(`params.add.${name}`)),
  );
  const value = most(addedHoldings);
  if (value !== 'none') {
    const names = added
      .filter((_, index) => addedHoldings[index] !== 'none')
      .map(({ name }) => name);
    checkEscape(params, names, at('params.escape'));
    const tokens = [main, ...subs.values()].flatMap((keyed) => [
      ...keyed.tokens,
      ...keyed.key.tokens,
    ]);
    checkOrder(params, tokens, at('params.order'));
    if (params.case !== 'none') checkFold(value, at('params.case'));
  }

  const end = holdingOf(pairEnd, ofSecretAlone, at('params.pairEnd'));
  const pairs = most([end, params.values ? value : 'none']);
  const block = encode.block === 'base64' && pairs !== 'none' ? 'base64' : pairs;
  const ofSubs = new Map<string, Holding>();
  const read = ({ source, name }: Token): Holding => {
    const known: Partial<Record<Source, Holding>> = {
      secret: 'text',
      params: block,
      values: value,
      sub: ofSubs.get(name) ?? 'none',
    };
    return known[source] ?? 'none';
  };

  for (const [name, sub] of subs) {
    const message = holdingOf(sub.message, read, at(`sub.${name}.message`));
    holdingOf(sub.key, read, at(`sub.${name}.key.tokens`));
    ofSubs.set(name, holdingAfter(sub.steps, message, read, at(`sub.${name}.steps`)));
  }
  holdingOf(main.key, read, at('key.tokens'));
  const message = holdingOf(main.message, read, at('message'));
  if (encode.lower) checkFold(message, at('encode.lower'));
  holdingAfter(main.steps, message, read, at('steps'));
}

/** The holding of a token in a place where no other one can hold the secret. */
function ofSecretAlone({ source }: Token): Holding {
  return source === 'secret' ? 'text' : 'none';
}

function most(all: readonly Holding[]): Holding {
  return holdings.findLast((holding) => all.includes(holding)) ?? 'none';
}

function holdingOf(template: Template, read: (token: Token) => Holding, field: string): Holding {
  return most(
    template.tokens.map((token) =>
      token.changes.reduce<Holding>(
        (held, change) => holdingBehind(change, held, field),
        read(token),
      ),
    ),
  );
}

function holdingBehind({ does }: Modifier, held: Holding, field: string): Holding {
  if (held === 'none' || typeof does !== 'string') return 'none';
  if (does === 'length' || does === 'date' || does === 'sorted')
    throw new RecipeError(
      field,
      `gives away a part of the secret: its ${does === 'sorted' ? 'order' : does}`,
      wholeHint,
    );
  if (does === 'upper' || does === 'lower') checkFold(held, field);
  return does === 'base64' ? 'base64' : held;
}

/** Letter case is a part of the text in base64: without it, several texts are one. */
function checkFold(held: Holding, field: string): void {
  if (held === 'base64')
    throw new RecipeError(
      field,
      'loses a part of the secret: the letter case of its base64',
      wholeHint,
    );
}

function holdingAfter(
  steps: readonly Step[],
  message: Holding,
  read: (token: Token) => Holding,
  field: string,
): Holding {
  return steps.reduce(
    (held, step, index) => holdingBehindStep(step, held, read, `${field}[${index}]`),
    message,
  );
}

/** Without a default: a new kind of step says what it does to the secret. */
function holdingBehindStep(
  step: Step,
  held: Holding,
  read: (token: Token) => Holding,
  field: string,
): Holding {
  switch (step.kind) {
    case 'digest':
      return 'none';
    case 'append':
    case 'prepend':
      return most([held, holdingOf(step.template, read, field)]);
    case 'slice':
      return held;
    case 'upper':
    case 'lower':
      checkFold(held, field);
      return held;
  }
}

/**
 * With one prefix for all of them, such as a backslash, replacements keep different texts
 * different.
 */
function checkEscape({ escape: table }: ParamsRule, names: readonly string[], field: string): void {
  const entries = Object.entries(table);
  const prefix = entries[0]?.[1].slice(0, -1);
  if (entries.every(([text, by]) => text.length === 1 && by === prefix + text)) return;
  throw new RecipeError(
    field,
    `would replace parts of the secret, in the value of ${names.join(', ')}`,
    wholeHint,
  );
}

/** Sorted by values, names alone show where the secret is among the values that the host knows. */
function checkOrder({ order, values }: ParamsRule, tokens: readonly Token[], field: string): void {
  if (!(order === 'value' || (isByPair(order) && values))) return;
  const shown = tokens.find(({ source }) => source === 'names' || (source === 'params' && !values));
  if (shown === undefined) return;
  throw new RecipeError(
    field,
    `$${shown.source} would show the place of the secret among the sorted values`,
    wholeHint,
  );
}
