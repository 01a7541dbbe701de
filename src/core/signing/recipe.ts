import { UserInfoError } from '../support/errors.js';
import type { Output } from './digest-algorithms.js';
import type { BlockEncoding, Case, TextEncoding } from './encodings.js';

/**
 * The rule of a signature, as data: the parameters are written as one block, the block and other
 * parts of the request make the message, and the digest steps turn the message into the signature.
 * Every field has a value; `RecipeJson` is the form with optional fields.
 */
export interface Recipe {
  readonly params: ParamsRule;
  /** The text to sign: literals and tokens such as `$params`, in order. */
  readonly message: readonly string[];
  /** The separator of the entries of `message`. */
  readonly join: string;
  /** The prefix of the request's path that `$path` leaves out, such as `/openapi`. */
  readonly basePath: string;
  readonly encode: EncodeRule;
  /** Separate digests by name, the values of `$sub:NAME`; each may hold those before it. */
  readonly sub: Readonly<Record<string, SubRule>>;
  /**
   * The digest steps, in order: `md5`, `hmac-sha256`, `md5:HEX`, `append:$secret`, `upper`,
   * `slice:8:24`, …
   */
  readonly steps: readonly string[];
  readonly key: KeyRule;
  /** The format of the last digest. Steps after it change the formatted text. */
  readonly output: Output;
}

/** The value of `$params`: which parameters are included, their order and their format. */
export interface ParamsRule {
  /** The place of the parameters that are included. */
  readonly from: ParamsPlace;
  /** Excluded names; `NAME*` stands for every name that begins with NAME. */
  readonly exclude: readonly string[];
  /** The only names included, `NAME*` as in `exclude`; null for all. */
  readonly include: readonly string[] | null;
  readonly empty: Empty;
  /**
   * Joins the values of a repeated parameter, at the place of the first; null keeps them separate.
   */
  readonly joinRepeated: string | null;
  /** A list is a fixed order, and excludes every name that is not in it. */
  readonly order: Order | readonly string[];
  readonly names: boolean;
  readonly values: boolean;
  readonly kvSep: string;
  readonly pairSep: string;
  /**
   * A literal or tokens after every pair, the last one included: `$secret` where the secret ends
   * each pair.
   */
  readonly pairEnd: string;
  /**
   * Texts replaced inside names and values once they are encoded: `{":": "\\:"}`; `""` is a whole
   * that is empty.
   */
  readonly escape: Readonly<Record<string, string>>;
  /** Encoding of names and values. */
  readonly encode: TextEncoding;
  /** Case of names and values, after encoding: it changes escapes such as `%2F` too. */
  readonly case: Case;
  /**
   * Case of names, before anything else: the name lists of this rule contain names in this case.
   */
  readonly nameCase: Case;
  /** Writes values, or names and values, as JSON strings, before `encode`. */
  readonly json: JsonTexts;
  /** Writes each value behind the number of its bytes in UTF-8, as it is written. */
  readonly lengths: boolean;
  /**
   * Values by name, literals and tokens, that are signed but not sent, behind the parameters and
   * whatever `include` and `exclude` say: a constant, the secret, a header.
   */
  readonly add: Readonly<Record<string, string>>;
}

export interface EncodeRule {
  /** Encoding of the whole parameter block, where `$params` is in the message. */
  readonly block: BlockEncoding;
  /** Encoding of the whole message, the secret included. */
  readonly message: TextEncoding;
  /** Whether the message is changed to lower case, after encoding. */
  readonly lower: boolean;
}

export interface SubRule {
  readonly message: readonly string[];
  readonly steps: readonly string[];
  /** The key of its HMAC steps. Default: the one of the recipe. */
  readonly key?: KeyRule;
}

/** The key of every HMAC step. */
export interface KeyRule {
  readonly tokens: readonly string[];
  readonly decode: KeyDecoding;
}

export const jsonTexts = ['none', 'values', 'both'] as const;
type JsonTexts = (typeof jsonTexts)[number];

/**
 * Both places; the query alone; the form alone, which only a passback has; or the form of a
 * passback and the query of a read.
 */
export const paramsPlaces = ['both', 'query', 'form', 'form-or-query'] as const;
export type ParamsPlace = (typeof paramsPlaces)[number];

export const emptyRules = ['keep', 'drop'] as const;
export type Empty = (typeof emptyRules)[number];

/**
 * `pair` sorts by the formatted pair, the others by the raw text; `name-desc` is `name` from back
 * to front. Texts are compared by UTF-16 code unit, as in Java; for ASCII this is byte order, as in
 * PHP. `-nocase` compares in lower case. The sort is stable.
 */
export const orders = [
  'name',
  'name-desc',
  'name-nocase',
  'value',
  'pair',
  'pair-nocase',
  'sent',
] as const;
export type Order = (typeof orders)[number];

/** Whether the written pairs decide on the order. */
export function isByPair(order: ParamsRule['order'] | undefined): order is 'pair' | 'pair-nocase' {
  return order === 'pair' || order === 'pair-nocase';
}

export const keyDecodings = ['utf8', 'hex', 'base64', 'base64url'] as const;
export type KeyDecoding = (typeof keyDecodings)[number];

/** A recipe as people write it: every field except `message` and `steps` has a default. */
export interface RecipeJson
  extends Partial<Omit<Recipe, 'params' | 'encode' | 'key' | 'message' | 'steps'>> {
  readonly params?: Partial<ParamsRule>;
  readonly message: readonly string[];
  readonly encode?: Partial<EncodeRule>;
  readonly steps: readonly string[];
  readonly key?: Partial<KeyRule>;
}

/** The two recipes of an app, by the parameter that carries the digest (§5.5, §5.6). */
export interface SigningRecipes {
  readonly app_sign: Recipe;
  readonly sign: Recipe;
}

/** The default of each field. */
export const recipeDefaults: Omit<Recipe, 'message' | 'steps'> = {
  params: {
    from: 'both',
    exclude: [],
    include: null,
    empty: 'keep',
    joinRepeated: null,
    order: 'name',
    names: true,
    values: true,
    kvSep: '=',
    pairSep: '&',
    pairEnd: '',
    escape: {},
    encode: 'none',
    case: 'none',
    nameCase: 'none',
    json: 'none',
    lengths: false,
    add: {},
  },
  join: '',
  basePath: '',
  encode: { block: 'none', message: 'none', lower: false },
  sub: {},
  key: { tokens: ['$secret'], decode: 'utf8' },
  output: 'hex',
};

/**
 * The most that a recipe may hold: many times what any documented rule has. More would make
 * signing, or checking the recipe, slow.
 */
export const recipeLimits = {
  /** Entries of `message` and of `steps`, also in `sub`, and of `key.tokens`. */
  entries: 64,
  /** Names in `include`, `exclude`, `order`, `add` and `escape`. */
  names: 256,
  /** Characters that `escape` puts in the place of a text. */
  escape: 16,
  /** Tokens in all of its texts. */
  tokens: 64,
  /** Modifiers of a token. */
  modifiers: 8,
  /** Characters of all its texts and names together. */
  characters: 8192,
} as const;

/** Fills in the defaults of a recipe. The type is trusted; `parseRecipe` checks untrusted data. */
export function completeRecipe(json: RecipeJson): Recipe {
  return {
    ...recipeDefaults,
    ...json,
    params: { ...recipeDefaults.params, ...json.params },
    encode: { ...recipeDefaults.encode, ...json.encode },
    key: { ...recipeDefaults.key, ...json.key },
  };
}

/**
 * An invalid recipe, or one with a feature that the language does not have.
 *
 * @example
 * try {
 *   compileRecipe({ message: ['$nothing'], steps: ['md5'] });
 * } catch (error) {
 *   if (error instanceof RecipeError) console.error(error.field, error.message);
 * }
 */
export class RecipeError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'RecipeError';
  static readonly code = 'INVALID_RECIPE';
  readonly code = 'INVALID_RECIPE';
  /** The path in the recipe, such as `sign.params.order`. */
  readonly field: string;

  constructor(field: string, problem: string, hint?: string) {
    super(`${field}: ${problem}`, { hint });
    this.field = field;
  }
}

/**
 * Null where a recipe, or the secret as its key, is refused: a key that is not base64, for example.
 */
export function unlessRefused<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof RecipeError) return null;
    throw error;
  }
}

/** @throws RecipeError for more than `recipeLimits` allows; `what` is what is counted */
export function checkLimit(
  count: number,
  limit: keyof typeof recipeLimits,
  field: string,
  what: string,
): void {
  const most = recipeLimits[limit];
  if (count <= most) return;
  throw new RecipeError(
    field,
    `has more than ${most} ${what}`,
    'Sign by a module where a rule needs more.',
  );
}

/** The path of a field inside another; the outermost path is empty. */
export function fieldPath(outer: string, field: string): string {
  return outer === '' ? field : `${outer}.${field}`;
}
