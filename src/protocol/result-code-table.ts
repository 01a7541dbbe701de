import { InvalidInputError } from './errors.js';
import { checkFields } from './fields.js';
import {
  entryOf,
  type ResultCodeEntry,
  type ResultCodeName,
  type ResultCodeTable,
  resultCode,
} from './result-codes.js';
import { quoteName } from './unsafe-text.js';

/**
 * What a platform's result code means: the code of this project with the same meaning, where there is one.
 *
 * @example
 * const maintenance: PlatformResultCode = { retry: 'passback', hint: 'See the status page of the platform.' };
 */
export interface PlatformResultCode {
  /** The rest defaults to that of this code. */
  readonly means?: ResultCodeName;
  /** The event, in one sentence. */
  readonly meaning?: string;
  /** The next step of the caller. */
  readonly hint?: string;
  /** Which requests may be retried. Default: `never`. See `ResultCodeEntry`. */
  readonly retry?: ResultCodeEntry['retry'];
  /** Whether it refuses one request, or every request of the caller. Default: `request`. */
  readonly refuses?: ResultCodeEntry['refuses'];
}

/**
 * The result codes of a platform (§7.2 leaves them open): they replace those of this project. 200 always means
 * success (§7.1).
 *
 * @example
 * const resultCodes: PlatformResultCodes = {
 *   1001: 'tooManyRequests',
 *   1003: 'codeNotValid',
 *   1010: { retry: 'passback', hint: 'The platform is under maintenance: see its status page.' },
 * };
 */
export type PlatformResultCodes = Readonly<Record<number | string, ResultCodeName | PlatformResultCode>>;

const unknownCode: ResultCodeEntry = {
  msg: '',
  meaning: 'A result code of the platform.',
  hint: 'Ask the operator of the platform.',
  fix: 'caller or operator',
  retry: 'never',
  refuses: 'request',
};

/** The values that a field can have; `null` for any text. */
const entryFields: Readonly<Record<keyof PlatformResultCode, readonly string[] | null>> = {
  means: Object.keys(resultCode).filter((name) => name !== 'ok'),
  meaning: null,
  hint: null,
  retry: ['never', 'passback', 'always', 'later'],
  refuses: ['request', 'caller'],
};

const entryHint = `Write a name (${entryFields.means?.join(', ')}), or an object of ${Object.keys(entryFields).join(', ')}.`;

/**
 * Checks the result codes of a platform.
 *
 * @throws InvalidInputError that begins with `label` and names the code
 */
export function parseResultCodes(json: unknown, label: string): ResultCodeTable {
  const hint = 'Write it as {"1001": "tooManyRequests", "1010": {"retry": "passback", "hint": "…"}}.';
  return new Map(
    Object.entries(checkFields(json, label, undefined, hint)).map(([code, given]) => {
      const where = `${label}: ${quoteName(code)}`;
      if (!/^-?\d{1,15}$/.test(code) || Number(code) === resultCode.ok) {
        throw new InvalidInputError(`${where} is not a result code other than ${resultCode.ok}`);
      }
      return [Number(code), parseEntry(typeof given === 'string' ? { means: given } : given, where)];
    }),
  );
}

function parseEntry(given: unknown, where: string): ResultCodeEntry {
  const fields = checkFields(given, where, Object.keys(entryFields), entryHint);
  for (const [field, value] of Object.entries(fields)) {
    const allowed = entryFields[field as keyof PlatformResultCode];
    if (typeof value === 'string' && (allowed === null || allowed.includes(value))) continue;
    const hint = allowed === null ? 'It is text.' : `It is one of ${allowed.join(', ')}.`;
    throw new InvalidInputError(`${where}: ${field} is not valid`, { hint });
  }
  const { means, ...rest } = fields as PlatformResultCode;
  return { ...(means === undefined ? unknownCode : entryOf(resultCode[means])), ...rest };
}
