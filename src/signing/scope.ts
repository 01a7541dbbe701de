import { computeDigest, type StepInputs } from './digest.js';
import { type Ink, plain } from './ink.js';
import { decodeKey } from './key.js';
import type { Entry } from './param-selection.js';
import type { Plan } from './plan.js';
import { extraOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import { renderTemplate, type Template } from './template.js';
import type { Token } from './tokens.js';

/** One request under one recipe: what each token stands for, in one ink. */
export class Scope<T> {
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
export function stepInputs(plan: Plan, scope: Scope<string>): StepInputs {
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
