import { UserInfoError } from '../support/errors.js';
import type { Output } from './digest-algorithms.js';
import type { TextEncoding } from './encodings.js';

/**
 * The rule of a signature, as data: the parameters are written as one block, the block and other
 * parts of the request make the message, and the digest steps turn the message into the signature.
 * Every field has a value; `RecipeJson` is the form with optional fields.
 */
export interface Recipe {
  /** What `$params` stands for. */
  readonly params: ParamsRule;
  /** The text to sign: literals and tokens such as `$params`, in order. */
  readonly message: readonly string[];
  /**
   * The separator of the entries of `message`.
   *
   * @default ''
   */
  readonly join: string;
  /** The digest steps, in order: `md5`, `hmac-sha256`, `md5:HEX`, `append:$secret`, `slice:0:32`. */
  readonly steps: readonly string[];
  /** The key of HMAC steps. */
  readonly key: KeyRule;
  /**
   * The format of the last digest. A `slice` after it cuts the formatted text.
   *
   * @default 'hex'
   */
  readonly output: Output;
}

/** The value of `$params`: which parameters are included, their order and their format. */
export interface ParamsRule {
  /**
   * The place of the parameters that are included.
   *
   * @default 'both'
   */
  readonly from: ParamsSource;
  /**
   * Excluded names.
   *
   * @default []
   */
  readonly exclude: readonly string[];
  /**
   * The only names included; null for all.
   *
   * @default null
   */
  readonly include: readonly string[] | null;
  /**
   * Whether parameters with empty values are signed.
   *
   * @default 'keep'
   */
  readonly empty: Empty;
  /**
   * A list is a fixed order, and excludes every name that is not in it.
   *
   * @default 'name'
   */
  readonly order: Order | readonly string[];
  /**
   * Whether names are written, and not values alone.
   *
   * @default true
   */
  readonly names: boolean;
  /**
   * The text between a name and its value.
   *
   * @default '='
   */
  readonly kvSep: string;
  /**
   * The text between pairs.
   *
   * @default '&'
   */
  readonly pairSep: string;
  /**
   * Encoding of names and values.
   *
   * @default 'none'
   */
  readonly encode: TextEncoding;
  /**
   * Case of names, before anything else: the name lists of this rule contain names in this case.
   *
   * @default 'none'
   */
  readonly nameCase: NameCase;
  /**
   * Values by name, literals and tokens, that are signed but not sent, behind the parameters and
   * whatever `include` and `exclude` say: a constant, or the secret.
   *
   * @default {}
   */
  readonly add: Readonly<Record<string, string>>;
}

/** The key of every HMAC step. */
export interface KeyRule {
  /**
   * The text of the key: literals and tokens, in order.
   *
   * @default ['$secret']
   */
  readonly tokens: readonly string[];
  /**
   * How that text becomes bytes.
   *
   * @default 'utf8'
   */
  readonly decode: KeyDecoding;
}

/**
 * Both places; the query alone; the form alone, which only a passback has; or the form of a
 * passback and the query of a read.
 */
export const paramsSources = ['both', 'query', 'form', 'form-or-query'] as const;
/** The place of the parameters that a rule includes. */
export type ParamsSource = (typeof paramsSources)[number];

/** Whether parameters with empty values are signed. */
export const emptyRules = ['keep', 'drop'] as const;
/** Whether parameters with empty values are kept or dropped. */
export type Empty = (typeof emptyRules)[number];

/** The letter case of names. */
export const nameCases = ['none', 'upper'] as const;
/** A letter case of names. */
export type NameCase = (typeof nameCases)[number];

/**
 * `name-desc` is `name` from back to front. Texts are compared by UTF-16 code unit, as in Java; for
 * ASCII this is byte order, as in PHP. The sort is stable.
 */
export const orders = ['name', 'name-desc', 'value', 'sent'] as const;
/** An order of parameters. */
export type Order = (typeof orders)[number];

/** How the text of a key becomes bytes. */
export const keyDecodings = ['utf8', 'hex', 'base64'] as const;
/** How the text of a key becomes bytes. */
export type KeyDecoding = (typeof keyDecodings)[number];

/** A recipe as people write it: every field except `message` and `steps` has a default. */
export interface RecipeJson extends Partial<Omit<Recipe, 'params' | 'key' | 'message' | 'steps'>> {
  /** As in `Recipe`; each field has a default. */
  readonly params?: Partial<ParamsRule>;
  /** As in `Recipe`. */
  readonly message: readonly string[];
  /** As in `Recipe`. */
  readonly steps: readonly string[];
  /** As in `Recipe`; each field has a default. */
  readonly key?: Partial<KeyRule>;
}

/** The two recipes of an app, by the parameter that carries the digest (§5.5, §5.6). */
export interface SigningRecipes {
  /** The recipe of the application signature (§5.5). */
  readonly app_sign: Recipe;
  /** The recipe of the data signature (§5.6). */
  readonly sign: Recipe;
}

/** The default of each field. */
export const recipeDefaults: Omit<Recipe, 'message' | 'steps'> = {
  params: {
    from: 'both',
    exclude: [],
    include: null,
    empty: 'keep',
    order: 'name',
    names: true,
    kvSep: '=',
    pairSep: '&',
    encode: 'none',
    nameCase: 'none',
    add: {},
  },
  join: '',
  key: { tokens: ['$secret'], decode: 'utf8' },
  output: 'hex',
};

/**
 * The most that a recipe may hold: many times what any documented rule has. More would make
 * signing, or checking the recipe, slow.
 */
const recipeLimits = {
  /** Entries of `message`, of `steps`, and of `key.tokens`. */
  entries: 64,
  /** Names in `include`, `exclude`, `order` and `add`. */
  names: 256,
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

  /** `field` is the path in the recipe; `problem` follows it in the message. */
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
  if (outer === '') return field;
  return `${outer}.${field}`;
}
