import { compileRecipe } from '../signing/compile-recipe.js';
import { compileSteps, computeDigest, decodeKey, parseDigest } from '../signing/digest-steps.js';
import {
  completeRecipe,
  type KeyDecoding,
  type ParamsRule,
  type Recipe,
  RecipeError,
  type RecipeJson,
} from '../signing/recipe.js';
import { hostOf, pathOf, type SignableRequest } from '../signing/request.js';
import { Secret } from '../signing/secret.js';
import { modifierNamed, namedToken } from './candidates/pieces.js';
import { readSignature, type SignatureReading } from './candidates/signature-reading.js';
import type { Pause, RecipeCandidate } from './reconstruct/target.js';
import type { SolveTask } from './tasks.js';

/** Parts of a rule that a document names: each narrows the search, which then goes deeper. */
export interface Hints {
  /** The digests, in order, such as `hmac-sha256`. */
  readonly steps?: readonly string[] | undefined;
  /** The text between the parts of the message. */
  readonly join?: string | undefined;
  /** The signed headers, in order: all of them are in the message. */
  readonly headers?: readonly string[] | undefined;
  /** Texts that are in the message as they stand. */
  readonly constants?: readonly string[] | undefined;
}

/** The most parts of a message. */
const mostParts = 10;
/** The most recipes that are listed. */
const mostFits = 20;
const betweenPauses = 512;

/** A part of a message. Of a group, a message has one at most. */
interface Part {
  readonly token: string;
  readonly text: string;
  readonly group: string;
  readonly params?: Partial<ParamsRule>;
}

/** A way from a message to the signature. */
interface Way {
  readonly recipe: Pick<RecipeJson, 'steps' | 'output' | 'key'>;
  readonly isKeyed: boolean;
  fits(message: string): boolean;
}

/** Results of a search with hints. */
export interface HintedFits {
  readonly fits: RecipeCandidate[];
  readonly tried: number;
}

/**
 * The recipes by which all samples are signed, of those that the hints allow: messages of up to ten parts joined by one
 * text; headers, and values of parameters, in their order, all other parts in any. The shortest first; `pause` may throw.
 */
export async function recipesByHints(
  tasks: readonly SolveTask[],
  hints: Hints,
  pause: Pause,
): Promise<HintedFits> {
  const [task] = tasks;
  const fits: RecipeCandidate[] = [];
  let tried = 0;
  if (task === undefined) return { fits, tried };
  const ways = waysTo(task, hints);
  const joins = hints.join === undefined ? ['', '\n', '&', '|', ':', ','] : [hints.join];
  for (let length = 1; length <= mostParts && fits.length === 0; length++) {
    for (const parts of messagesOf(task.request, task.secret.reveal(), hints, length)) {
      const hasSecret = parts.some(({ group }) => group === 'secret');
      for (const join of length === 1 ? joins.slice(0, 1) : joins) {
        const message = parts.map(({ text }) => text).join(join);
        for (const way of ways) {
          if (way.isKeyed === hasSecret) continue;
          tried += 1;
          if (tried % betweenPauses === 0) await pause();
          if (!way.fits(message)) continue;
          const recipe = recipeOf(parts, join, way);
          if (signsAll(recipe, tasks)) fits.push({ recipe, bits: 10 + 2 * length });
        }
      }
      if (fits.length >= mostFits) break;
    }
  }
  return { fits, tried };
}

function recipeOf(parts: readonly Part[], join: string, { recipe }: Way): Recipe {
  const params = parts.find((part) => part.params !== undefined)?.params;
  return completeRecipe({
    ...recipe,
    ...(params && { params }),
    message: parts.map(({ token }) => token),
    join,
  });
}

function signsAll(recipe: Recipe, tasks: readonly SolveTask[]): boolean {
  try {
    const signer = compileRecipe(recipe);
    return tasks.every(({ request, secret, signature }) => signer.sign(request, secret).digest === signature);
  } catch (error) {
    if (error instanceof RecipeError) return false;
    throw error;
  }
}

const keyDecodings: readonly KeyDecoding[] = ['utf8', 'base64', 'hex'];

function waysTo(task: SolveTask, { steps }: Hints): Way[] {
  const secret = task.secret.reveal();
  return readSignature(task).flatMap((reading) => {
    const chains = steps === undefined ? [[reading.algorithm], [`hmac-${reading.algorithm}`]] : [steps];
    return chains.flatMap((chain) => {
      const last = parseDigest(chain.at(-1) ?? '');
      if (last?.algorithm !== reading.algorithm) return [];
      const isKeyed = chain.some((step) => parseDigest(step)?.hmac);
      return (isKeyed ? keyDecodings : keyDecodings.slice(0, 1)).flatMap((decode) =>
        wayBy(chain, reading, secret, decode),
      );
    });
  });
}

function wayBy(
  chain: readonly string[],
  reading: SignatureReading,
  secret: string,
  decode: KeyDecoding,
): Way[] {
  const isKeyed = chain.some((step) => parseDigest(step)?.hmac);
  const compiled = compileSteps(chain, 'hex');
  let key: Buffer;
  try {
    key = decodeKey(secret, decode);
  } catch (error) {
    if (error instanceof RecipeError) return [];
    throw error;
  }
  const [from, to] = reading.cut ?? [0, reading.digest.length];
  const inputs = { key: () => key, text: () => '' };
  return [
    {
      isKeyed,
      recipe: {
        steps: [...chain, ...reading.after],
        output: reading.output,
        ...(decode !== 'utf8' && { key: { decode } }),
      },
      fits: (message) => computeDigest(compiled, message, inputs).slice(from, to) === reading.digest,
    },
  ];
}

const blocks: readonly Partial<ParamsRule>[] = [
  {},
  { encode: 'rfc3986' },
  { kvSep: '', pairSep: '' },
  { order: 'sent' },
  { pairSep: '\n' },
  { empty: 'drop' },
];
const bodyDigests = ['md5', 'sha256', 'sha1', 'sha512', 'md5:base64', 'sha256:base64'];

/** The parts that stand at any place. */
function freeParts(request: SignableRequest, secret: string, { constants = [], join = '' }: Hints): Part[] {
  const { method, url, query = '', body, params } = request;
  const part = (group: string, token: string, text: string, rule?: Partial<ParamsRule>): Part => ({
    token,
    text,
    group,
    ...(rule && { params: rule }),
  });
  const path = pathOf(url, '');
  const block = (rule: Partial<ParamsRule>) =>
    compileRecipe(completeRecipe({ params: rule, message: ['$params'], steps: ['md5'] })).sign(
      request,
      new Secret(''),
    ).params;
  return [
    part('method', '$method', method),
    part('target', '$path', path),
    ...(query === ''
      ? []
      : [part('target', '$path$search', `${path}?${query}`), part('query', '$query', query)]),
    part('target', '$url', url),
    part('host', '$host', hostOf(url)),
    ...(body === null || body === ''
      ? []
      : [
          part('body', '$body', body),
          ...bodyDigests.map((digest) => part('body', `$body.${digest}`, modifierNamed(digest)(body))),
        ]),
    ...(params.length === 0 ? [] : blocks.map((rule) => part('block', '$params', block(rule), rule))),
    part('secret', '$secret', secret),
    ...(join === '' ? [] : [part('empty', '', '')]),
    ...constants.map((text, index) => part(`constant ${index}`, text.replaceAll('$', '$$$$'), text)),
  ];
}

/** The messages of so many parts. */
function* messagesOf(
  request: SignableRequest,
  secret: string,
  hints: Hints,
  length: number,
): Generator<readonly Part[]> {
  const { headers = [], constants = [] } = hints;
  const free = freeParts(request, secret, hints);
  const named = (source: 'param' | 'extra', name: string, text: string): Part[] => {
    const token = namedToken(source, name);
    return token === null ? [] : [{ token, text, group: `${source} ${name}` }];
  };
  const given = Object.entries(request.extra);
  const listed = headers.flatMap((name) =>
    given.filter(([known]) => known.toLowerCase() === name.toLowerCase()),
  );
  const ordered = (headers.length > 0 ? listed : given).flatMap(([name, text]) => named('extra', name, text));
  const values = request.params.slice(0, 12).flatMap(([name, text]) => named('param', name, text));
  const parts: Part[] = [];
  const used = new Set<string>();
  const least = headers.length > 0 ? ordered.length : 0;
  function* extend(header: number, value: number): Generator<readonly Part[]> {
    const missing =
      Math.max(0, least - header) + constants.filter((_, index) => !used.has(`constant ${index}`)).length;
    if (parts.length === length) {
      if (missing === 0) yield parts;
      return;
    }
    if (missing > length - parts.length) return;
    for (
      let next = header;
      next < (headers.length > 0 ? Math.min(header + 1, ordered.length) : ordered.length);
      next++
    ) {
      yield* withPart(ordered[next] as Part, next + 1, value);
    }
    for (let next = value; next < values.length; next++)
      yield* withPart(values[next] as Part, header, next + 1);
    for (const part of free) if (!used.has(part.group)) yield* withPart(part, header, value);
  }
  function* withPart(part: Part, header: number, value: number): Generator<readonly Part[]> {
    parts.push(part);
    used.add(part.group);
    yield* extend(header, value);
    used.delete(part.group);
    parts.pop();
  }
  yield* extend(0, 0);
}
