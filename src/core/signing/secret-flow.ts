import type { KeyedMessage, Step } from './digest-steps.js';
import type { ParamsFormat } from './params.js';
import { fieldPath, RecipeError } from './recipe.js';
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
 * @throws RecipeError for a recipe that loses a part of the secret before it is digested
 */
export function checkSecretFlow(
  { message, steps, key }: KeyedMessage,
  { added }: Pick<ParamsFormat, 'added'>,
  field: string,
): void {
  const pathOf = (name: string) => fieldPath(field, name);
  const ofAdded = added.map(({ name, value }) =>
    holdingOf(value, ofSecretAlone, pathOf(`params.add.${name}`)),
  );
  const ofToken = (token: Token): Holding => {
    if (token.source === 'params') return most(ofAdded);
    return ofSecretAlone(token);
  };
  holdingOf(key, ofToken, pathOf('key.tokens'));
  const ofMessage = holdingOf(message, ofToken, pathOf('message'));
  holdingAfter(steps, ofMessage, ofToken, pathOf('steps'));
}

/** The holding of a token where no other one can hold the secret. */
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
  if (does === 'upper' || does === 'lower') checkFold(held, field);
  if (does === 'base64') return 'base64';
  return held;
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
  }
}
