import { memoize } from '../support/memoize.js';
import {
  computeDigest,
  decodeKey,
  type KeyedMessage,
  type StepInputs,
  stepsLength,
} from './digest-steps.js';
import { type BlockEncoding, encoders } from './encodings.js';
import type { SignedParam } from './params.js';
import { type EncodeRule, RecipeError } from './recipe.js';
import type { RecipeParts } from './recipe-parts.js';
import { endpointOf, extraOf, hostOf, paramOf, pathOf, type SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import type { Signature, Signer } from './signer.js';
import {
  Renderer,
  renderTemplate,
  showMarks,
  type Template,
  type TextChange,
  type Token,
} from './template.js';

/**
 * Signs by the parts of a recipe; their declarations, with types of Node.js, are none of the SDK's.
 * `bytesOf` makes the bytes of a message; by default UTF-8.
 */
export function signerOf(
  compiled: RecipeParts,
  bytesOf: (message: string) => string | Buffer = String,
): Signer {
  const { message: template, steps, allTokens } = compiled;
  const { encode } = compiled.recipe;
  const encodeMessage = compileMessageEncoding(encode);
  const subNames = [...compiled.subs.keys()];
  const headers = allTokens.filter(
    ({ source, optional }) => source === 'extra' && optional === null,
  );

  const signAsIs = (request: SignableRequest, secret: Secret): Signature => {
    const texts = textsOf(compiled, request, secret);
    const message = encodeMessage.apply(texts.text(template));
    const digest = computeDigest(steps, bytesOf(message), stepInputs(compiled, texts));
    return { params: texts.params(), message, digest };
  };
  return {
    digestLength: stepsLength(encode.message === 'none' ? template : null, steps),
    usesQuery: allTokens.some(({ source }) => source === 'query'),
    sign(request, secret) {
      for (const { name } of headers) checkHeader(request, name);
      return signAsIs(request, secret);
    },
    explain(request, secret) {
      const renderer = new Renderer(secret, request, true);
      const texts = textsOf(compiled, request, secret, renderer);
      const message = renderer.change(texts.text(template), encodeMessage);
      return {
        params: showMarks(texts.params(), subNames),
        message: showMarks(message, subNames),
        digest: signAsIs(request, secret).digest,
        missing: missingTokens(allTokens, request),
      };
    },
  };
}

/**
 * Signed as an empty text, a missing header is a signature that no service takes, and nothing says
 * why.
 */
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
    (token) =>
      (token.source === 'query' && isQueryUnknown(request)) ||
      (token.optional === null &&
        ((token.source === 'param' && paramOf(request, token.name) === undefined) ||
          (token.source === 'extra' && extraOf(request, token.name) === undefined))),
  );
  return [
    ...new Set(
      missing.map(({ source, name }) => (name === '' ? `$${source}` : `$${source}:${name}`)),
    ),
  ];
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

/** The texts of a recipe for one request. */
interface RequestTexts {
  text(template: Template): string;
  /**
   * The parameter block of the last `$params`, before `encode.block`; empty where no token used it.
   */
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
  const select = () => params.select(request.params, added());
  const subTexts = memoize(() => textsOf(parts, request, secret));
  /** Each once: one may hold another many times. */
  const subDigest = memoize((name: string): string => {
    const sub = parts.subs.get(name);
    if (sub === undefined) return '';
    const texts = subTexts(undefined);
    return computeDigest(sub.steps, texts.text(sub.message), stepInputs(sub, texts));
  });
  return { text, params: () => block };

  function read({ source, name }: Token): string {
    switch (source) {
      case 'params':
        block = params.writePairs(select(), renderer);
        return renderer.change(block, blockChange(recipe.encode.block));
      case 'names':
        return params.writeNames(select(), renderer);
      case 'values':
        return params.writeValues(select(), renderer);
      case 'secret':
        return renderer.secret();
      case 'sub':
        return renderer.sub([...parts.subs.keys()].indexOf(name), subDigest(name));
      case 'method':
        return renderer.open(request.method);
      case 'host':
        return renderer.open(hostOf(request.url));
      case 'path':
        return renderer.open(pathOf(request.url, recipe.basePath));
      case 'endpoint':
        return renderer.open(endpointOf(request.url));
      case 'url':
        return renderer.open(request.url);
      case 'query':
        return renderer.query(request.query ?? '');
      case 'body':
        return renderer.open(request.body ?? '');
      case 'param':
        return renderer.value(paramOf(request, name) ?? '');
      case 'extra':
        return renderer.value(extraOf(request, name) ?? '');
    }
  }

  /** The order depends on the values themselves, also where they are shown masked. */
  function added(): SignedParam[] {
    if (params.added.length === 0) return [];
    const plain = renderer.isMasked ? textsOf(parts, request, secret).text : text;
    return params.added.flatMap(({ name, value }): SignedParam[] => {
      const given = plain(value);
      if (recipe.params.empty === 'drop' && given === '') return [];
      return [plain === text ? [name, given] : [name, given, 'query', text(value)]];
    });
  }
}

function stepInputs({ key, decode }: KeyedMessage, { text }: RequestTexts): StepInputs {
  return { key: () => decodeKey(text(key), decode), text };
}
