import { computeDigest, decodeKey, type StepInputs, stepsLength } from './digest-steps.js';
import type { SignedParam } from './params.js';
import type { RecipeParts } from './recipe-parts.js';
import { endpointOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import type { Signature, Signer } from './signer.js';
import { Renderer, renderTemplate, showMarks, type Template, type Token } from './template.js';

/**
 * Signs by the parts of a recipe. Apart from `compileRecipe`, so that the declarations of the SDK
 * need no types of Node.js.
 * `bytesOf` makes the bytes of a message; by default UTF-8.
 */
export function signerOf(
  compiled: RecipeParts,
  bytesOf: (message: string) => string | Buffer = String,
): Signer {
  const { message: template, steps, allTokens } = compiled;

  const sign = (request: SignableRequest, secret: Secret): Signature => {
    const texts = textsOf(compiled, request, secret);
    const message = texts.text(template);
    const digest = computeDigest(steps, bytesOf(message), stepInputs(compiled, texts));
    return { params: texts.params(), message, digest };
  };
  return {
    digestLength: stepsLength(template, steps),
    usesQuery: allTokens.some(({ source }) => source === 'query'),
    sign,
    explain(request, secret) {
      const renderer = new Renderer(secret, request, true);
      const texts = textsOf(compiled, request, secret, renderer);
      const message = texts.text(template);
      return {
        params: showMarks(texts.params()),
        message: showMarks(message),
        digest: sign(request, secret).digest,
        missing: missingTokens(allTokens, request),
      };
    },
  };
}

/** The tokens without a value in the request, each once. */
function missingTokens(tokens: readonly Token[], request: SignableRequest): string[] {
  const missing = new Set<string>();
  for (const { source, name } of tokens) {
    if (source === 'query' && isQueryUnknown(request)) missing.add('$query');
    if (source === 'param' && paramOf(request, name) === undefined) missing.add(`$param:${name}`);
  }
  return [...missing];
}

/** Whether the parameters must have been in a query, but not how it was written. */
function isQueryUnknown({ query, params, body }: SignableRequest): boolean {
  return query === undefined && params.length > 0 && body === null;
}

/** The texts of a recipe for one request. */
interface RequestTexts {
  text(template: Template): string;
  /** The parameter block of the last `$params`; empty where no token used it. */
  params(): string;
}

function textsOf(
  parts: RecipeParts,
  request: SignableRequest,
  secret: Secret,
  renderer = new Renderer(secret, request),
): RequestTexts {
  const { params, recipe } = parts;
  let block = '';
  const text = (template: Template) => renderTemplate(template, renderer, read);
  return { text, params: () => block };

  function read({ source, name }: Token): string {
    switch (source) {
      case 'params':
        block = params.write(params.select(request.params, added()), renderer);
        return block;
      case 'secret':
        return renderer.secret();
      case 'method':
        return renderer.showable(request.method);
      case 'host':
        return renderer.showable(hostOf(request.url));
      case 'path':
        return renderer.showable(pathOf(request.url));
      case 'endpoint':
        return renderer.showable(endpointOf(request.url));
      case 'url':
        return renderer.showable(request.url);
      case 'query':
        return renderer.query(request.query ?? '');
      case 'body':
        return renderer.showable(request.body ?? '');
      case 'param':
        return renderer.value(paramOf(request, name) ?? '');
    }
  }

  /** The order depends on the values themselves, also where they are shown masked. */
  function added(): SignedParam[] {
    if (params.added.length === 0) return [];
    const { isMasked } = renderer;
    const plainText = isMasked ? textsOf(parts, request, secret).text : text;
    const signed: SignedParam[] = [];
    for (const { name, value } of params.added) {
      const plain = plainText(value);
      if (recipe.params.empty === 'drop' && plain === '') continue;
      if (isMasked) signed.push({ name, value: plain, shown: text(value) });
      else signed.push({ name, value: plain });
    }
    return signed;
  }
}

function stepInputs({ key, decode }: RecipeParts, { text }: RequestTexts): StepInputs {
  return { key: () => decodeKey(text(key), decode), text };
}
