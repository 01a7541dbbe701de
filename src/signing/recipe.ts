import type { Output } from './digests.js';
import type { BlockEncoding, Case, TextEncoding } from './encodings.js';

/**
 * How a request becomes a digest, as data: the parameters are written as one block, the block and other parts
 * of the request become the message, the message goes through the digest steps. Every field is filled in;
 * `RecipeJson` is the form with defaults left out.
 */
export interface Recipe {
  readonly params: ParamsRule;
  /** What is signed: literals and tokens such as `$params`, one after the other. */
  readonly message: readonly string[];
  /** What stands between the entries of `message`. */
  readonly join: string;
  /** The beginning of the request's path that `$path` leaves out, such as `/openapi`. */
  readonly basePath: string;
  readonly encode: EncodeRule;
  /** A digest of its own that `$sub` stands for. */
  readonly sub: SubRule | null;
  /** The digest steps, in order: `md5`, `hmac-sha256`, `md5:HEX`, `append:$secret`, `upper`, `slice:8:24`, … */
  readonly steps: readonly string[];
  readonly key: KeyRule;
  /** How the last digest is written. Steps after it work on the written text. */
  readonly output: Output;
}

/** Which parameters take part, in which order, and how they are written: what `$params` stands for. */
export interface ParamsRule {
  /** Names that are left out. */
  readonly exclude: readonly string[];
  /** The only names that take part; null for all. */
  readonly include: readonly string[] | null;
  readonly empty: Empty;
  /** What joins the values of a repeated parameter into one, at its first place; null keeps them apart. */
  readonly joinRepeated: string | null;
  /** A list is a fixed order, and leaves out every name that is not in it. */
  readonly order: Order | readonly string[];
  readonly names: boolean;
  readonly values: boolean;
  readonly kvSep: string;
  readonly pairSep: string;
  /** A literal or tokens that follow every pair, the last one too: `$secret` where the secret ends each pair. */
  readonly pairEnd: string;
  /** Texts replaced inside names and values before they are encoded: `{":": "\\:"}`. */
  readonly escape: Readonly<Record<string, string>>;
  /** Of names and values. */
  readonly encode: TextEncoding;
  /** Of names and values, after encoding: escapes such as `%2F` are folded too. */
  readonly case: Case;
  /** Of names alone, before anything else: the lists of names in this rule hold folded names. */
  readonly nameCase: Case;
  /** The name under which the secret takes part as one more parameter; null where it does not. */
  readonly secretAs: string | null;
}

export interface EncodeRule {
  /** Of the whole parameter block, where `$params` stands in the message. */
  readonly block: BlockEncoding;
  /** Of the whole message, the secret included. */
  readonly message: TextEncoding;
  /** Whether the message is lower-cased, after encoding. */
  readonly lower: boolean;
}

export interface SubRule {
  readonly message: readonly string[];
  readonly steps: readonly string[];
}

/** The key of every hmac step. */
export interface KeyRule {
  readonly tokens: readonly string[];
  readonly decode: KeyDecoding;
}

export const emptyRules = ['keep', 'drop'] as const;
export type Empty = (typeof emptyRules)[number];

/**
 * `pair` orders by the pair as it is written, the others by the raw text. Texts are compared by UTF-16 code
 * unit, as Java does; for ASCII that is PHP's and everybody's byte order. `-nocase` compares lower-cased.
 * What compares equal stays in request order.
 */
export const orders = ['name', 'name-nocase', 'value', 'pair', 'pair-nocase', 'sent'] as const;
export type Order = (typeof orders)[number];

export const keyDecodings = ['utf8', 'hex', 'base64', 'base64url'] as const;
export type KeyDecoding = (typeof keyDecodings)[number];

/** A recipe as people write it: every field but `message` and `steps` has a default. */
export interface RecipeJson extends Partial<Omit<Recipe, 'params' | 'encode' | 'key' | 'message' | 'steps'>> {
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

/** What a field is where a recipe does not say. */
export const recipeDefaults: Omit<Recipe, 'message' | 'steps'> = {
  params: {
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
    secretAs: null,
  },
  join: '',
  basePath: '',
  encode: { block: 'none', message: 'none', lower: false },
  sub: null,
  key: { tokens: ['$secret'], decode: 'utf8' },
  output: 'hex',
};

/** The whole recipe that a short one stands for. The types vouch for it; `parseRecipe` checks foreign data. */
export function completeRecipe(json: RecipeJson): Recipe {
  return {
    ...recipeDefaults,
    ...json,
    params: { ...recipeDefaults.params, ...json.params },
    encode: { ...recipeDefaults.encode, ...json.encode },
    key: { ...recipeDefaults.key, ...json.key },
  };
}
