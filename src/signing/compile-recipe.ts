import {
  compileSteps,
  computeDigest,
  decodeKey,
  type Step,
  type StepInputs,
  stepsLength,
} from './digest-steps.js';
import { encoders } from './encodings.js';
import { compileParams, type Entry, type ParamsFormat } from './params.js';
import { type EncodeRule, fieldPath, type Recipe, RecipeError } from './recipe.js';
import { extraOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import type { Explanation, Signature, Signer } from './signer.js';
import { parseTemplates, renderTemplate, type Template, type Token, tokensOf } from './template.js';

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
    const values = new TokenValues(compiled, request, secret, plain);
    const message = encodeMessage(values.text(compiled.message));
    const digest = computeDigest(compiled.steps, message, stepInputs(compiled, values));
    return { params: values.params, message, digest };
  };
  const explain = (request: SignableRequest, secret: Secret): Explanation => {
    const values = new TokenValues(compiled, request, secret, masked);
    const message = values.text(compiled.message);
    return {
      params: showMasked(values.params),
      message: showMasked(message, encodeMessage),
      digest: sign(request, secret).digest,
      missing: missingTokens(compiled.tokens, request),
    };
  };
  return { digestLength: stepsLength(compiled.steps), sign, explain };
}

function missingTokens(tokens: readonly Token[], request: SignableRequest): string[] {
  const missing = tokens.filter(
    ({ source, name }) =>
      (source === 'param' && paramOf(request, name) === undefined) ||
      (source === 'extra' && extraOf(request, name) === undefined),
  );
  return [...new Set(missing.map(({ source, name }) => `$${source}:${name}`))];
}

/** A recipe with its tokens and steps parsed. */
interface CompiledRecipe extends CompiledMessage {
  readonly recipe: Recipe;
  readonly params: ParamsFormat;
  readonly key: Template;
  readonly sub: CompiledMessage | null;
  /** `encode.block`, for `$params`. */
  readonly encodeBlock: TextChange;
  /** `encode.message` and `encode.lower`, for the whole message. */
  readonly encodeMessage: (text: string) => string;
  /** All tokens of the recipe. */
  readonly tokens: readonly Token[];
}

interface CompiledMessage {
  readonly message: Template;
  readonly steps: readonly Step[];
}

/**
 * Parses a recipe; `field` is its path, for error messages.
 *
 * @throws RecipeError for an unknown token or step, or one in the wrong place
 */
function parseParts(recipe: Recipe, field = ''): CompiledRecipe {
  const at = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0) throw new RecipeError(at('message'), 'is empty', 'Add $params.');
  const main: CompiledMessage = {
    message: parseTemplates(recipe.message, at('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, at('steps')),
  };
  const sub: CompiledMessage | null = recipe.sub && {
    message: parseTemplates(recipe.sub.message, at('sub.message')),
    steps: compileSteps(recipe.sub.steps, null, at('sub.steps')),
  };
  const key = parseTemplates(recipe.key.tokens, at('key.tokens'));

  const subNeeds = sub === null ? [] : [...tokensIn(sub), ...(usesKey(sub) ? tokensOf(key) : [])];
  if (subNeeds.some(isSub)) throw new RecipeError(at('sub'), 'takes $sub, which is itself');
  const tokens = [...tokensIn(main), ...tokensOf(key), ...subNeeds];
  if (sub === null && tokens.some(isSub)) {
    throw new RecipeError(at('sub'), 'is missing, and $sub is used', 'Add {"message": […], "steps": […]}.');
  }
  return {
    ...main,
    recipe,
    params: compileParams(recipe.params, at('params')),
    key,
    sub,
    encodeBlock: { apply: encoders[recipe.encode.block], local: recipe.encode.block !== 'base64' },
    encodeMessage: compileMessageEncoding(recipe.encode),
    tokens,
  };
}

function compileMessageEncoding({ message, lower }: EncodeRule): (text: string) => string {
  const encode = encoders[message];
  return lower ? (text) => encode(text).toLowerCase() : encode;
}

function usesKey({ steps }: CompiledMessage): boolean {
  return steps.some((step) => step.kind === 'digest' && step.hmac);
}

function tokensIn({ message, steps }: CompiledMessage): Token[] {
  return [
    ...tokensOf(message),
    ...steps.flatMap((step) => ('template' in step ? tokensOf(step.template) : [])),
  ];
}

function isSub({ source }: Token): boolean {
  return source === 'sub';
}

/** The values of a recipe's tokens for one request. */
class TokenValues<T> {
  readonly #compiled: CompiledRecipe;
  readonly #request: SignableRequest;
  readonly #secret: Secret;
  readonly #renderer: Renderer<T>;
  #params: T;

  constructor(compiled: CompiledRecipe, request: SignableRequest, secret: Secret, renderer: Renderer<T>) {
    this.#compiled = compiled;
    this.#request = request;
    this.#secret = secret;
    this.#renderer = renderer;
    this.#params = renderer.empty;
  }

  /** The parameter block of the last `$params` rendered, before `encode.block`; empty where no token used it. */
  get params(): T {
    return this.#params;
  }

  text(template: Template): T {
    return renderTemplate(template, this.#renderer, (token) => this.#read(token));
  }

  #read({ source, name }: Token): T {
    const renderer = this.#renderer;
    const request = this.#request;
    switch (source) {
      case 'params':
        return this.#block();
      case 'names':
        return this.#compiled.params.writeNames(this.#select(), renderer);
      case 'values':
        return this.#compiled.params.writeValues(this.#select(), renderer);
      case 'secret':
        return this.#writeSecret();
      case 'sub':
        return renderer.secret(subDigest(this.#compiled, request, this.#secret), '<sub>');
      case 'method':
        return renderer.open(request.method);
      case 'host':
        return renderer.open(hostOf(request.url));
      case 'path':
        return renderer.open(pathOf(request.url, this.#compiled.recipe.basePath));
      case 'url':
        return renderer.open(request.url);
      case 'body':
        return renderer.open(request.body ?? '');
      case 'param':
        return this.#writeValue(paramOf(request, name) ?? '');
      case 'extra':
        return this.#writeValue(extraOf(request, name) ?? '');
    }
  }

  #block(): T {
    const { params, encodeBlock } = this.#compiled;
    this.#params = params.writePairs(this.#select(), this.#renderer, this.#writeSecret());
    return this.#renderer.change(this.#params, encodeBlock);
  }

  #select(): readonly Entry[] {
    const entries = this.#compiled.params.select(this.#request.params, this.#secret);
    const text = this.#secret.reveal();
    if (!entries.some((entry) => entry[1] === text)) return entries;
    return entries.map((entry) =>
      this.#isSecret(entry[1]) ? [entry[0], entry[1], this.#secret.toString()] : entry,
    );
  }

  /** With app key and secret swapped, the secret is sent as a parameter; it is masked there too. */
  #isSecret(value: string): boolean {
    return value !== '' && value === this.#secret.reveal();
  }

  #writeValue(value: string): T {
    return this.#isSecret(value) ? this.#writeSecret() : this.#renderer.open(value);
  }

  #writeSecret(): T {
    return this.#renderer.secret(this.#secret.reveal(), this.#secret.toString());
  }
}

/** The inputs of the steps besides the message. */
function stepInputs(compiled: CompiledRecipe, values: TokenValues<string>): StepInputs {
  return {
    key: () => decodeKey(values.text(compiled.key), compiled.recipe.key.decode),
    text: (template) => values.text(template),
  };
}

/** The value of `$sub`. It nearly always contains the secret, so it is always masked. */
function subDigest(compiled: CompiledRecipe, request: SignableRequest, secret: Secret): string {
  if (compiled.sub === null) return '';
  const values = new TokenValues(compiled, request, secret, plain);
  return computeDigest(compiled.sub.steps, values.text(compiled.sub.message), stepInputs(compiled, values));
}

/** A change of text. A `local` one works character by character, so it can be applied part by part. */
export interface TextChange {
  readonly apply: (text: string) => string;
  readonly local: boolean;
}

/**
 * Renders the text of a recipe: once with `plain`, which gives the text to sign, and once with `masked`, to
 * explain it. The secret is masked where it is inserted, never searched for afterwards.
 */
export interface Renderer<T> {
  readonly empty: T;
  open(text: string): T;
  /** A text made from the secret, and the label to show instead. */
  secret(text: string, label: string): T;
  join(text: T, more: T): T;
  change(text: T, change: TextChange): T;
}

/** Renders the text to sign. */
const plain: Renderer<string> = {
  empty: '',
  open: (text) => text,
  secret: (text) => text,
  join: (text, more) => text + more,
  change: (text, { apply }) => apply(text),
};

/** Text that may be shown: plain parts, and labels in place of the secret. */
type Masked = readonly (string | { readonly label: string })[];

/** Renders text that may be shown. It never contains the secret. */
const masked: Renderer<Masked> = {
  empty: [],
  open: (text) => [text],
  secret: (_text, label) => [{ label }],
  join: (text, more) => joinStretches(text, more),
  change(text, { apply, local }) {
    const secret = text.find((stretch) => typeof stretch !== 'string');
    if (secret !== undefined && !local) return [secret];
    return local
      ? text.map((stretch) => (typeof stretch === 'string' ? apply(stretch) : stretch))
      : [apply(text.join(''))];
  },
};

/** Merges adjacent plain parts, so that there are no more parts than labels need. */
function joinStretches(text: Masked, more: Masked): Masked {
  const last = text.at(-1);
  const [first, ...rest] = more;
  if (typeof last !== 'string' || typeof first !== 'string') return [...text, ...more];
  return [...text.slice(0, -1), last + first, ...rest];
}

/** Masked text on one line, its plain parts changed by `encode`. */
function showMasked(text: Masked, encode = (open: string) => open): string {
  return text.map((stretch) => (typeof stretch === 'string' ? encode(stretch) : stretch.label)).join('');
}
