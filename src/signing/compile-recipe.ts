import {
  checkIsOpen,
  compileSteps,
  computeDigest,
  decodeKey,
  type KeyedMessage,
  keyedMessage,
  type StepInputs,
  stepsLength,
} from './digest-steps.js';
import { encoders } from './encodings.js';
import { compileParams, type ParamsFormat, type SignedParam } from './params.js';
import { type EncodeRule, fieldPath, type Recipe, RecipeError } from './recipe.js';
import { blockSources } from './recipe-language.js';
import { extraOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import { checkSecretFlow } from './secret-flow.js';
import type { Explanation, Signature, Signer } from './signer.js';
import {
  parseTemplates,
  Renderer,
  renderTemplate,
  showMarks,
  type Template,
  type TextChange,
  type Token,
} from './template.js';

/**
 * Compiles a recipe, to sign many requests. `field` is the path of the recipe, for error messages.
 *
 * @throws RecipeError for an invalid recipe
 * @example
 * const recipe = parseRecipe({ message: ['$params', '&key=', '$secret'], steps: ['md5'] });
 * const { digest } = compileRecipe(recipe).sign(request, new Secret('s'));
 */
export function compileRecipe(recipe: Recipe, field = ''): Signer {
  const compiled = parseParts(recipe, field);
  const { encodeMessage } = compiled;

  const sign = (request: SignableRequest, secret: Secret): Signature => {
    const values = new TokenValues(compiled, request, secret);
    const message = encodeMessage.apply(values.text(compiled.message));
    const digest = computeDigest(compiled.steps, message, stepInputs(compiled, values));
    return { params: values.params, message, digest };
  };
  const explain = (request: SignableRequest, secret: Secret): Explanation => {
    const renderer = new Renderer(secret, true);
    const values = new TokenValues(compiled, request, secret, renderer);
    const message = renderer.change(values.text(compiled.message), encodeMessage);
    return {
      params: showMarks(values.params),
      message: showMarks(message),
      digest: sign(request, secret).digest,
      missing: missingTokens(compiled.allTokens, request),
    };
  };
  const isEncoded = recipe.encode.message !== 'none';
  const digestLength = stepsLength(isEncoded ? null : compiled.message, compiled.steps);
  return { digestLength, usesQuery: compiled.allTokens.some(isQuery), sign, explain };
}

function isQuery({ source }: Pick<Token, 'source'>): boolean {
  return source === 'query' || source === 'search';
}

function missingTokens(tokens: readonly Token[], request: SignableRequest): string[] {
  const missing = tokens.filter(
    ({ source, name }) =>
      (source === 'param' && paramOf(request, name) === undefined) ||
      (source === 'extra' && extraOf(request, name) === undefined) ||
      (isQuery({ source }) && isQueryUnknown(request)),
  );
  return [...new Set(missing.map(({ source, name }) => (name === '' ? `$${source}` : `$${source}:${name}`)))];
}

/** Whether the parameters must have been in a query, but not how it was written. */
function isQueryUnknown({ query, params, body }: SignableRequest): boolean {
  return query === undefined && params.length > 0 && body === null;
}

/** A recipe with its tokens and steps parsed. */
interface CompiledRecipe extends KeyedMessage {
  readonly recipe: Recipe;
  readonly params: ParamsFormat;
  readonly sub: KeyedMessage | null;
  /** `encode.block`, for `$params`. */
  readonly encodeBlock: TextChange;
  /** `encode.message` and `encode.lower`, for the whole message. */
  readonly encodeMessage: TextChange;
  /** The tokens that sign a request: those of `$sub` and of added values, too, where these are used. */
  readonly allTokens: readonly Token[];
}

/**
 * Parses a recipe; `field` is its path, for error messages.
 *
 * @throws RecipeError for an unknown token or step, one in the wrong place, or a digest of a part of the secret
 */
function parseParts(recipe: Recipe, field: string): CompiledRecipe {
  const at = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0) throw new RecipeError(at('message'), 'is empty', 'Add $params.');
  const main = keyedMessage({
    message: parseTemplates(recipe.message, at('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, at('steps')),
    key: parseTemplates(recipe.key.tokens, at('key.tokens')),
    decode: recipe.key.decode,
  });
  const sub =
    recipe.sub &&
    keyedMessage({
      message: parseTemplates(recipe.sub.message, at('sub.message')),
      steps: compileSteps(recipe.sub.steps, null, at('sub.steps')),
      key: recipe.sub.key ? parseTemplates(recipe.sub.key.tokens, at('sub.key.tokens')) : main.key,
      decode: (recipe.sub.key ?? recipe.key).decode,
    });
  if (!main.steps.some(({ kind }) => kind === 'digest')) checkIsOpen(main.message, at('message'));

  if (sub?.tokens.some(isSub)) throw new RecipeError(at('sub'), 'takes $sub, which is itself');
  const params = compileParams(recipe.params, at('params'));
  if (sub === null && main.tokens.some(isSub)) {
    throw new RecipeError(at('sub'), 'is missing, and $sub is used', 'Add {"message": […], "steps": […]}.');
  }
  const { added, pairEnd } = params;
  checkSecretFlow({ ...main, params: recipe.params, added, pairEnd, encode: recipe.encode, sub }, field);
  return {
    ...main,
    recipe,
    params,
    sub,
    encodeBlock: { apply: encoders[recipe.encode.block], local: recipe.encode.block !== 'base64' },
    encodeMessage: compileMessageEncoding(recipe.encode),
    allTokens: allTokensOf(main, sub, params),
  };
}

function allTokensOf(main: KeyedMessage, sub: KeyedMessage | null, { added }: ParamsFormat): Token[] {
  const all = [...main.tokens, ...(sub !== null && main.tokens.some(isSub) ? sub.tokens : [])];
  const usesBlock = all.some(({ source }) => blockSources.has(source));
  return usesBlock ? [...all, ...added.flatMap(({ value }) => value.tokens)] : all;
}

/** The change of the whole message by `encode`. */
export function compileMessageEncoding({ message, lower }: Omit<EncodeRule, 'block'>): TextChange {
  const encode = encoders[message];
  return { apply: lower ? (text) => encode(text).toLowerCase() : encode, local: true };
}

function isSub({ source }: Token): boolean {
  return source === 'sub';
}

/** The values of a recipe's tokens for one request. */
class TokenValues {
  readonly #compiled: CompiledRecipe;
  readonly #request: SignableRequest;
  readonly #secret: Secret;
  readonly #renderer: Renderer;
  #params = '';

  constructor(
    compiled: CompiledRecipe,
    request: SignableRequest,
    secret: Secret,
    renderer = new Renderer(secret, false),
  ) {
    this.#compiled = compiled;
    this.#request = request;
    this.#secret = secret;
    this.#renderer = renderer;
  }

  /** The parameter block of the last `$params` rendered, before `encode.block`; empty where no token used it. */
  get params(): string {
    return this.#params;
  }

  text(template: Template): string {
    return renderTemplate(template, this.#renderer, (token) => this.#read(token));
  }

  #read({ source, name }: Token): string {
    const renderer = this.#renderer;
    const request = this.#request;
    const { params, encodeBlock, recipe } = this.#compiled;
    switch (source) {
      case 'params':
        this.#params = params.writePairs(this.#select(), renderer);
        return renderer.change(this.#params, encodeBlock);
      case 'names':
        return params.writeNames(this.#select(), renderer);
      case 'values':
        return params.writeValues(this.#select(), renderer);
      case 'secret':
        return renderer.secret();
      case 'sub':
        return renderer.sub(subDigest(this.#compiled, request, this.#secret));
      case 'method':
        return renderer.open(request.method);
      case 'host':
        return renderer.open(hostOf(request.url));
      case 'path':
        return renderer.open(pathOf(request.url, recipe.basePath));
      case 'url':
        return renderer.open(request.url);
      case 'query':
        return renderer.query(request.query ?? '');
      case 'search':
        return request.query ? `?${renderer.query(request.query)}` : '';
      case 'body':
        return renderer.open(request.body ?? '');
      case 'param':
        return renderer.value(paramOf(request, name) ?? '');
      case 'extra':
        return renderer.value(extraOf(request, name) ?? '');
    }
  }

  #select(): readonly SignedParam[] {
    const { params } = this.#compiled;
    return params.select(this.#request.params, this.#added());
  }

  /** The order depends on the values themselves, also where they are shown masked. */
  #added(): SignedParam[] {
    const { added } = this.#compiled.params;
    if (added.length === 0) return [];
    const plain = this.#renderer.isMasked
      ? new TokenValues(this.#compiled, this.#request, this.#secret)
      : this;
    return added.flatMap(({ name, value, isOptional }): SignedParam[] => {
      const text = plain.text(value);
      if (isOptional && text === '') return [];
      return [plain === this ? [name, text] : [name, text, this.text(value)]];
    });
  }
}

function stepInputs({ key, decode }: KeyedMessage, values: TokenValues): StepInputs {
  return {
    key: () => decodeKey(values.text(key), decode),
    text: (template) => values.text(template),
  };
}

function subDigest(compiled: CompiledRecipe, request: SignableRequest, secret: Secret): string {
  if (compiled.sub === null) return '';
  const values = new TokenValues(compiled, request, secret);
  const { message, steps } = compiled.sub;
  return computeDigest(steps, values.text(message), stepInputs(compiled.sub, values));
}
