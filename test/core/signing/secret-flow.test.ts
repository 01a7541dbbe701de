import { expect, test } from 'vitest';
import type { RecipeJson } from '../../../src/core/signing/recipe.js';
import { parseRecipe, parseSigningRecipes } from '../../../src/core/signing/recipe-json.js';

type RequestInput = Partial<RecipeJson>;
const cut = (place: string) => `${place}: slice takes a digest, and nothing else`;
const caseOf = (place: string) =>
  `${place}: loses a part of the secret: the letter case of its base64`;
const text = (message: string, ...steps: string[]): RequestInput => ({
  message: [message],
  ...(steps.length > 0 && { steps }),
});
/** With this text among the parameters. */
const held = (added: string, message = '$params', ...steps: string[]): RequestInput => ({
  ...text(message, ...steps),
  params: { add: { k: added } },
});

test.each<[string, RequestInput, string]>([
  ['the message', text('$secret', 'slice:0:3', 'md5'), cut('steps[0]')],
  ['other text', text('$param:a', 'slice:0:3', 'append:$secret', 'md5'), cut('steps[0]')],
  ['its digest in the message', text('$secret.md5', 'slice:0:8', 'md5'), cut('steps[0]')],
  ['a part of the message', text('a$secret', 'slice:1:9', 'md5'), cut('steps[0]')],
  ['the whole, so far', text('$secret', 'slice:0:9999', 'md5'), cut('steps[0]')],
  ['its base64', text('$secret.base64', 'slice:0:4', 'md5'), cut('steps[0]')],
  [
    'what is behind a digest',
    text('x', 'md5', 'append:$secret', 'slice:32:35', 'md5'),
    cut('steps[2]'),
  ],
  ['what is before it', text('x', 'prepend:$secret', 'slice:0:3', 'md5'), cut('steps[1]')],
  ['a pair', held('$secret', '$params', 'slice:0:5', 'md5'), cut('steps[0]')],
  ['base64 in an added value', held('$secret.base64.upper'), caseOf('params.add.k')],
  ['base64 of the parameters', held('$secret', '$params.base64.lower'), caseOf('message')],
  ['base64 of a parameter', held('$secret.base64', '$params.lower'), caseOf('message')],
  ['base64 in lower case', text('$secret.base64.lower'), caseOf('message')],
  [
    'base64 in the key',
    { ...text('x', 'hmac-md5'), key: { tokens: ['$secret.base64.upper'] } },
    caseOf('key.tokens'),
  ],
])('a digest of a part of the secret is refused: %s', (_, given, message) => {
  const recipe = { steps: ['md5'], ...given };
  expect(() => parseRecipe(recipe)).toThrow(message);
  const other = { message: ['$params', '$secret'], steps: ['md5'] };
  expect(() => parseSigningRecipes({ app_sign: other, sign: recipe })).toThrow(`sign.${message}`);
});

test.each<[string, RequestInput]>([
  [
    'a cut of a digest',
    text('$params$secret', 'md5', 'slice:8:24', 'append:$secret', 'sha1', 'slice:0:32'),
  ],
  ['its letter case', held('$secret', '$params.lower$secret.upper')],
  ['its base64', held('$secret.base64', '$params')],
])('rules that keep the whole secret are taken: %s', (_, given) => {
  expect(() => parseRecipe({ steps: ['md5'], ...given })).not.toThrow();
});
