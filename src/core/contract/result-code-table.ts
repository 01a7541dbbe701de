import { InvalidInputError, quoteName, type RefusalDetail } from './errors.js';
import { checkFields, mustBeHttpStatus } from './members.js';
import {
  httpStatusOf,
  type ResultCode,
  type ResultCodeEntry,
  type ResultCodeName,
  type ResultCodeTable,
  resultCode,
  resultCodeEntry,
  retryClasses,
} from './result-codes.js';

/**
 * What a platform's result code means: the code of this project with the same meaning, where there
 * is one.
 */
export interface PlatformResultCode {
  /**
   * The code of this project with the same meaning, or several where the platform has one code for
   * them. The other members default to those of the first one.
   */
  readonly means?: ResultCodeName | RefusalDetail | readonly (ResultCodeName | RefusalDetail)[];
  /** `msg` of the envelope, as the service writes it. */
  readonly msg?: string;
  /**
   * HTTP status of the answer, as the service sends it.
   *
   * @default as `http_status` of the platform says
   */
  readonly http_status?: number;
  /** The event, in one sentence. */
  readonly meaning?: string;
  /** The next step of the caller. */
  readonly hint?: string;
  /**
   * Which requests may be retried: see `ResultCodeEntry`.
   *
   * @default that of `means`, else 'never'
   */
  readonly retry?: ResultCodeEntry['retry'];
  /**
   * Whether it refuses one request, or every request of the caller.
   *
   * @default that of `means`, else 'request'
   */
  readonly refuses?: ResultCodeEntry['refuses'];
}

/**
 * The result codes of a platform (§7.2 leaves them open): they replace those of this project. 200
 * always means success (§7.1).
 *
 * @example
 * const resultCodes: PlatformResultCodes = {
 *   1001: 'tooManyRequests',
 *   1003: 'codeNotValid',
 *   1010: { retry: 'repeatable', hint: 'The platform is under maintenance: see its status page.' },
 * };
 */
export type PlatformResultCodes = Readonly<
  Record<number | string, ResultCodeName | RefusalDetail | PlatformResultCode>
>;

/** Maximum number of result codes of a platform. */
const maxCodes = 1000;

/** Kinds of `malformedParameter` for which a platform may have a code of its own. */
const details = {
  unknownParameter: 'malformedParameter',
  scopeNotAccepted: 'malformedParameter',
} as const;

type MeaningName = ResultCodeName | RefusalDetail;

/** The code of this project that a name of a platform file stands for. */
function codeNamed(name: MeaningName): ResultCode {
  return resultCode[isDetail(name) ? details[name] : name];
}

function isDetail(name: MeaningName): name is RefusalDetail {
  return name in details;
}

const unknownCode: ResultCodeEntry = {
  msg: '',
  meaning: 'A result code of the platform.',
  hint: 'Ask the operator of the platform.',
  fix: 'caller or operator',
  retry: 'never',
  refuses: 'request',
};

/** The values that a field can have; `null` for any text. */
const textFields: Readonly<
  Record<Exclude<keyof PlatformResultCode, 'means' | 'http_status'>, readonly string[] | null>
> = {
  msg: null,
  meaning: null,
  hint: null,
  retry: retryClasses,
  refuses: ['request', 'caller'],
};

const meanings = [
  ...Object.keys(resultCode).filter((name) => name !== 'ok'),
  ...Object.keys(details),
];

const entryFields = ['means', ...Object.keys(textFields), 'http_status'];

const entryHint = `Write a name (${meanings.join(', ')}), or an object of ${entryFields.join(', ')}.`;

/**
 * Checks the result codes of a platform.
 *
 * @throws InvalidInputError that begins with `label` and names the code
 */
export function parseResultCodes(json: unknown, label: string): ResultCodeTable {
  const hint =
    'Write it as {"1001": "tooManyRequests", "1010": {"retry": "repeatable", "hint": "…"}}.';
  const codes = Object.entries(checkFields(json, label, undefined, hint));
  if (codes.length > maxCodes)
    throw new InvalidInputError(`${label} has more than ${maxCodes} result codes`);
  const table = new Map<number, ResultCodeEntry>();
  for (const [code, entry] of codes) {
    const where = `${label}: ${quoteName(code)}`;
    if (!/^-?\d{1,15}$/.test(code) || Number(code) === resultCode.ok)
      throw new InvalidInputError(`${where} is not a result code other than ${resultCode.ok}`);
    table.set(Number(code), parseEntry(entry, where));
  }
  return table;
}

/** @throws InvalidInputError that begins with `where` and names the field */
function parseEntry(json: unknown, where: string): ResultCodeEntry {
  const entry = typeof json === 'string' ? { means: json } : json;
  const fields = checkFields(entry, where, entryFields, entryHint);
  const { http_status, means, ...texts } = fields;
  checkHttpStatus(http_status, where);
  const names = meaningsOf({ means } as PlatformResultCode);
  if (means !== undefined) checkMeanings(names, where);
  for (const [field, value] of Object.entries(texts)) {
    const allowed = textFields[field as keyof typeof textFields];
    if (typeof value === 'string' && (allowed === null || allowed.includes(value))) continue;
    throw new InvalidInputError(`${where}: ${field} is not valid`, {
      hint: allowed === null ? 'It is text.' : `It is one of ${allowed.join(', ')}.`,
    });
  }
  const [firstName] = names;
  if (firstName === undefined) return { ...unknownCode, ...texts };
  return { ...resultCodeEntry(codeNamed(firstName)), ...texts };
}

function checkHttpStatus(status: unknown, where: string): void {
  if (status === undefined) return;
  const fault = mustBeHttpStatus(status);
  if (fault !== null) throw new InvalidInputError(`${where}: http_status ${fault}`);
}

function checkMeanings(names: readonly MeaningName[], where: string): void {
  if (names.length > 0 && names.every((name) => meanings.includes(name))) return;
  throw new InvalidInputError(`${where}: means is not valid`, {
    hint: `It is one of ${meanings.join(', ')}, or a list of them.`,
  });
}

function meaningsOf({ means = [] }: PlatformResultCode): readonly MeaningName[] {
  return [means].flat();
}

/** A refusal as a platform answers it. */
export interface PlatformRefusal {
  readonly code: number;
  /** Undefined where it is that of this project. */
  readonly msg: string | undefined;
  readonly httpStatus: number;
}

/**
 * The refusal with which a platform answers what this project refuses with `code`: by the first of
 * its result codes that means the same, one for the `detail` before others; else by the code of
 * this project. `httpStatus` is that of refusals, unless each has its own.
 */
export function platformRefusal(
  code: ResultCode,
  resultCodes: PlatformResultCodes | null,
  httpStatus: 'by-code' | 200,
  detail?: RefusalDetail,
): PlatformRefusal {
  const defaultStatus = httpStatus === 200 ? 200 : httpStatusOf(code);
  const entries = Object.entries(resultCodes ?? {}).map(([digits, meaning]) => {
    const entry: PlatformResultCode = typeof meaning === 'string' ? { means: meaning } : meaning;
    return { ...entry, code: Number(digits), names: meaningsOf(entry) };
  });
  const hasDetail = ({ names }: { readonly names: readonly MeaningName[] }) =>
    detail !== undefined && names.includes(detail);
  const hasCode = ({ names }: { readonly names: readonly MeaningName[] }) =>
    names.some((name) => !isDetail(name) && codeNamed(name) === code);
  const match = entries.find(hasDetail) ?? entries.find(hasCode);
  if (match === undefined) return { code, msg: undefined, httpStatus: defaultStatus };
  return { code: match.code, msg: match.msg, httpStatus: match.http_status ?? defaultStatus };
}
