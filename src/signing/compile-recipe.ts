import { computeDigest, decodeKey, type KeyedMessage, type StepInputs, stepsLength } from './digest-steps.js';
import { type BlockEncoding, encoders } from './encodings.js';
import type { SignedParam } from './params.js';
import { type EncodeRule, RecipeError, type RecipeJson } from './recipe.js';
import { readRecipe } from './recipe-json.js';
import { isQuery, partsOf, type RecipeParts } from './recipe-parts.js';
import { extraOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import type { Explanation, Signature, Signer } from './signer.js';
import {
  Renderer,
  renderTemplate,
  showMarks,
  type Template,
  type TextChange,
  type Token,
} from './template.js';

/**
 * Checks a recipe, and compiles it to sign many requests. It may be untrusted JSON; `field` is its path, for error
 * messages.
 *
 * @throws RecipeError that names the first wrong field, token or step; the signer throws it for a request without a
 * header that the recipe signs, and for a secret that is not the key that the recipe says
 * @example
 * const signer = compileRecipe({ message: ['$params', '&key=', '$secret'], steps: ['md5'] });
 * const { digest } = signer.sign(request, new Secret('s'));
 */
export function compileRecipe(recipe: RecipeJson, field = ''): Signer {
  const compiled = partsOf(readRecipe(recipe, field), field);
  const { message: template, steps, allTokens } = compiled;
  const { encode } = compiled.recipe;
  const encodeMessage = compileMessageEncoding(encode);
  const optional = new Set(
    compiled.params.added.flatMap(({ value, isOptional }) => (isOptional ? value.tokens : [])),
  );
  const headers = allTokens.filter((token) => token.source === 'extra' && !optional.has(token));

  const signWith = (values: TokenValues): Signature => {
    const message = encodeMessage.apply(values.text(template));
    const digest = computeDigest(steps, message, stepInputs(compiled, values));
    return { params: values.params, message, digest };
  };
  const explain = (request: SignableRequest, secret: Secret): Explanation => {
    const renderer = new Renderer(secret, true);
    const values = new TokenValues(compiled, request, secret, renderer);
    const message = renderer.change(values.text(template), encodeMessage);
    return {
      params: showMarks(values.params),
      message: showMarks(message),
      digest: signWith(new TokenValues(compiled, request, secret)).digest,
      missing: missingTokens(allTokens, request),
    };
  };
  return {
    digestLength: stepsLength(encode.message === 'none' ? template : null, steps),
    usesQuery: allTokens.some(isQuery),
    sign(request, secret) {
      for (const { name } of headers) checkHeader(request, name);
      return signWith(new TokenValues(compiled, request, secret));
    },
    explain,
  };
}

/** Signed as an empty text, a missing header is a signature that no service takes, and nothing says why. */
function checkHeader(request: SignableRequest, name: string): void {
  if (extraOf(request, name) !== undefined) return;
  throw new RecipeError(
    `$extra:${name}`,
    'the request has no such header, which the recipe signs',
    'Give the request with its headers, or take the header out of the recipe.',
  );
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

function blockChange(encoding: BlockEncoding): TextChange {
  return { apply: encoders[encoding], local: encoding !== 'base64' };
}

/** The change of the whole message by `encode`. */
export function compileMessageEncoding({ message, lower }: Omit<EncodeRule, 'block'>): TextChange {
  const encode = encoders[message];
  return { apply: lower ? (text) => encode(text).toLowerCase() : encode, local: true };
}

/** The values of a recipe's tokens for one request. */
class TokenValues {
  readonly #compiled: RecipeParts;
  readonly #request: SignableRequest;
  readonly #secret: Secret;
  readonly #renderer: Renderer;
  #params = '';

  constructor(
    compiled: RecipeParts,
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
    const { params, recipe } = this.#compiled;
    switch (source) {
      case 'params':
        this.#params = params.writePairs(this.#select(), renderer);
        return renderer.change(this.#params, blockChange(recipe.encode.block));
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

function subDigest(compiled: RecipeParts, request: SignableRequest, secret: Secret): string {
  if (compiled.sub === null) return '';
  const values = new TokenValues(compiled, request, secret);
  const { message, steps } = compiled.sub;
  return computeDigest(steps, values.text(message), stepInputs(compiled.sub, values));
}
