import {
  compileSteps,
  compileSubSteps,
  computeDigest,
  decodeKey,
  type Step,
  type StepInputs,
  stepsLength,
} from './digest.js';
import { encoders } from './encodings.js';
import { compileParams, type Entry, type ParamsFormat } from './params.js';
import type { EncodeRule, Recipe } from './recipe.js';
import { fieldPath, RecipeError } from './recipe-error.js';
import { extraOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import type { Explanation, Signature, Signer } from './signer.js';
import { parseTemplates, renderTemplate, type Template, type Token, tokensOf } from './template.js';

/**
 * Reads a recipe once, to sign many requests with. `field` is where the recipe stands, for the errors.
 *
 * @throws RecipeError for a recipe that says nothing sensible
 */
export function compileRecipe(recipe: Recipe, field = ''): Signer {
  const plan = compilePlan(recipe, field);
  const { encodeMessage } = plan;

  const sign = (request: SignableRequest, secret: Secret): Signature => {
    const scope = new Scope(plan, request, secret, plain);
    const message = encodeMessage(scope.text(plan.message));
    const digest = computeDigest(plan.steps, message, stepInputs(plan, scope));
    return { params: scope.params, message, digest };
  };
  const explain = (request: SignableRequest, secret: Secret): Explanation => {
    const scope = new Scope(plan, request, secret, masked);
    const message = scope.text(plan.message);
    return {
      params: showMasked(scope.params),
      message: showMasked(message, encodeMessage),
      digest: sign(request, secret).digest,
      missing: missingTokens(plan.tokens, request),
    };
  };
  return { digestLength: stepsLength(plan.steps), sign, explain };
}

/** The stages of one signature. To sign many requests by one recipe, compile it. */
export function computeSignature(recipe: Recipe, request: SignableRequest, secret: Secret): Signature {
  return compileRecipe(recipe).sign(request, secret);
}

/** The same stages as they may be shown: `<secret>` where the secret takes part, `<sub>` for a sub-digest. */
export function explainSignature(recipe: Recipe, request: SignableRequest, secret: Secret): Explanation {
  return compileRecipe(recipe).explain(request, secret);
}

function missingTokens(tokens: readonly Token[], request: SignableRequest): string[] {
  const missing = tokens.filter(
    ({ source, name }) =>
      (source === 'param' && paramOf(request, name) === undefined) ||
      (source === 'extra' && extraOf(request, name) === undefined),
  );
  return [...new Set(missing.map(({ source, name }) => `$${source}:${name}`))];
}

/** A recipe with its tokens and steps read, ready to sign with. */
interface Plan extends MessagePlan {
  readonly recipe: Recipe;
  readonly params: ParamsFormat;
  readonly key: Template;
  readonly sub: MessagePlan | null;
  /** `encode.block`, for `$params`. */
  readonly encodeBlock: TextChange;
  /** `encode.message` and `encode.lower`, for the whole message. */
  readonly encodeMessage: (text: string) => string;
  /** Every token of the recipe. */
  readonly tokens: readonly Token[];
}

interface MessagePlan {
  readonly message: Template;
  readonly steps: readonly Step[];
}

/**
 * Reads a recipe; `field` is where it stands, for the errors.
 *
 * @throws RecipeError for a token or step that there is not, or that cannot stand where it does
 */
function compilePlan(recipe: Recipe, field = ''): Plan {
  const at = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0) throw new RecipeError(at('message'), 'is empty', 'Add $params.');
  const main: MessagePlan = {
    message: parseTemplates(recipe.message, at('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, at('steps')),
  };
  const sub: MessagePlan | null = recipe.sub && {
    message: parseTemplates(recipe.sub.message, at('sub.message')),
    steps: compileSubSteps(recipe.sub.steps, at('sub.steps')),
  };
  const key = parseTemplates(recipe.key.tokens, at('key.tokens'));

  const subNeeds = sub === null ? [] : [...planTokens(sub), ...(usesKey(sub) ? tokensOf(key) : [])];
  if (subNeeds.some(isSub)) throw new RecipeError(at('sub'), 'takes $sub, which is itself');
  const tokens = [...planTokens(main), ...tokensOf(key), ...subNeeds];
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

function usesKey({ steps }: MessagePlan): boolean {
  return steps.some((step) => step.kind === 'digest' && step.hmac);
}

function planTokens({ message, steps }: MessagePlan): Token[] {
  return [
    ...tokensOf(message),
    ...steps.flatMap((step) => ('template' in step ? tokensOf(step.template) : [])),
  ];
}

function isSub({ source }: Token): boolean {
  return source === 'sub';
}

/** One request under one recipe: what each token stands for, in one ink. */
class Scope<T> {
  readonly #plan: Plan;
  readonly #request: SignableRequest;
  readonly #secret: Secret;
  readonly #ink: Ink<T>;
  #params: T;

  constructor(plan: Plan, request: SignableRequest, secret: Secret, ink: Ink<T>) {
    this.#plan = plan;
    this.#request = request;
    this.#secret = secret;
    this.#ink = ink;
    this.#params = ink.empty;
  }

  /** The parameter block that `$params` took, before `encode.block`; empty where nothing asked for it. */
  get params(): T {
    return this.#params;
  }

  text(template: Template): T {
    return renderTemplate(template, this.#ink, (token) => this.#read(token));
  }

  #read({ source, name }: Token): T {
    const ink = this.#ink;
    const request = this.#request;
    switch (source) {
      case 'params':
        return this.#block();
      case 'names':
        return this.#plan.params.writeNames(this.#select(), ink);
      case 'values':
        return this.#plan.params.writeValues(this.#select(), ink);
      case 'secret':
        return this.#writeSecret();
      case 'sub':
        return ink.secret(subDigest(this.#plan, request, this.#secret), '<sub>');
      case 'method':
        return ink.open(request.method);
      case 'host':
        return ink.open(hostOf(request.url));
      case 'path':
        return ink.open(pathOf(request.url, this.#plan.recipe.basePath));
      case 'url':
        return ink.open(request.url);
      case 'body':
        return ink.open(request.body ?? '');
      case 'param':
        return this.#writeValue(paramOf(request, name) ?? '');
      case 'extra':
        return this.#writeValue(extraOf(request, name) ?? '');
    }
  }

  #block(): T {
    const { params, encodeBlock } = this.#plan;
    this.#params = params.writePairs(this.#select(), this.#ink, this.#writeSecret());
    return this.#ink.change(this.#params, encodeBlock);
  }

  #select(): readonly Entry[] {
    const entries = this.#plan.params.select(this.#request.params, this.#secret);
    const text = this.#secret.reveal();
    if (!entries.some((entry) => entry[1] === text)) return entries;
    return entries.map((entry) =>
      this.#isSecret(entry[1]) ? [entry[0], entry[1], this.#secret.toString()] : entry,
    );
  }

  /** Who swaps app key and secret sends the secret as a parameter: it is not shown there either. */
  #isSecret(value: string): boolean {
    return value !== '' && value === this.#secret.reveal();
  }

  #writeValue(value: string): T {
    return this.#isSecret(value) ? this.#writeSecret() : this.#ink.open(value);
  }

  #writeSecret(): T {
    return this.#ink.secret(this.#secret.reveal(), this.#secret.toString());
  }
}

/** What the steps of a plan take beside the message. */
function stepInputs(plan: Plan, scope: Scope<string>): StepInputs {
  return {
    key: () => decodeKey(scope.text(plan.key), plan.recipe.key.decode),
    text: (template) => scope.text(template),
  };
}

/** What `$sub` stands for. It is made of the secret nearly always, so it is never shown. */
function subDigest(plan: Plan, request: SignableRequest, secret: Secret): string {
  if (plan.sub === null) return '';
  const scope = new Scope(plan, request, secret, plain);
  return computeDigest(plan.sub.steps, scope.text(plan.sub.message), stepInputs(plan, scope));
}

/** A change of text. `local` ones work character by character, so they may be applied stretch by stretch. */
export interface TextChange {
  readonly apply: (text: string) => string;
  readonly local: boolean;
}

/**
 * What a recipe writes with. It runs once with `plain`, which gives the text that is signed, and once with
 * `masked` to be explained; nothing is ever searched for the secret afterwards.
 */
export interface Ink<T> {
  readonly empty: T;
  open(text: string): T;
  /** Text made of the secret, and what is shown in its place. */
  secret(text: string, label: string): T;
  join(text: T, more: T): T;
  /** Many texts as one, with a literal between them. */
  list(texts: readonly T[], separator: string): T;
  change(text: T, change: TextChange): T;
}

/** Writes text as it is signed. */
const plain: Ink<string> = {
  empty: '',
  open: (text) => text,
  secret: (text) => text,
  join: (text, more) => text + more,
  list: (texts, separator) => texts.join(separator),
  change: (text, { apply }) => apply(text),
};

/** Text as it may be shown: open stretches, and labels where the secret was left out. */
type Masked = readonly (string | Label)[];

interface Label {
  readonly label: string;
}

/** Writes text as it may be shown. The secret never enters it. */
const masked: Ink<Masked> = {
  empty: [],
  open: (text) => [text],
  secret: (_text, label) => [{ label }],
  join: (text, more) => joinStretches(text, more),
  list: (texts, separator) =>
    texts.reduce<Masked>(
      (text, more, index) => joinStretches(index === 0 ? text : joinStretches(text, [separator]), more),
      [],
    ),
  change(text, { apply, local }) {
    const secret = text.find((stretch) => typeof stretch !== 'string');
    if (secret !== undefined && !local) return [secret];
    return local
      ? text.map((stretch) => (typeof stretch === 'string' ? apply(stretch) : stretch))
      : [apply(text.join(''))];
  },
};

/** Stretches that meet become one: a text of many parts stays as few as it has labels. */
function joinStretches(text: Masked, more: Masked): Masked {
  const last = text.at(-1);
  const [first, ...rest] = more;
  if (typeof last !== 'string' || typeof first !== 'string') return [...text, ...more];
  return [...text.slice(0, -1), last + first, ...rest];
}

/** Masked text on one line, its open stretches changed by `encode`. */
function showMasked(text: Masked, encode = (open: string) => open): string {
  return text.map((stretch) => (typeof stretch === 'string' ? encode(stretch) : stretch.label)).join('');
}
