import { endpoints } from '../../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { parseResultCodes } from '../../../core/contract/result-code-table.js';
import {
  httpStatusOf,
  ownResultCodes,
  type ResultCodeEntry,
  type ResultCodeTable,
  resultCode,
} from '../../../core/contract/result-codes.js';
import { resolveSigning } from '../../../core/profiles/settings.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import type { CommonOptions, ConnectionOptions } from '../../command-line/options.js';
import { printMessage } from '../../io.js';
import { settingSources } from '../../request/deployment.js';

export const declareExplain = command({
  name: 'explain',
  common: ['profile', 'output'],
  summary: 'explain a result code, and what to do about it',
  help: () => import('./help.txt?raw'),
  takes: (command) =>
    command
      .argument('[code...]', 'the code of an answer, or its text (default: all codes)')
      .option('--platform <file>', 'platform file with its result codes'),
  action: async (
    { context, io, options, isTable, print }: Invocation<ConnectionOptions>,
    words: string[],
  ) => {
    const table = await tableOf(context, options);
    const shown = isTable ? inWords : explain;
    if (words.length > 0) {
      const text = words.join(' ');
      const code = codeIn(text, table);
      if (code !== undefined) return print(shown(code, table));
      const ownCode = codeIn(text, ownResultCodes);
      if (ownCode === undefined) throw notInTable(text);
      await printMessage(io, `${ownCode} is not a code of the platform: "userinfo serve" has it`);
      return print(shown(ownCode, ownResultCodes));
    }
    const rowOf = isTable ? shortRow : explain;
    await print([...table.keys()].map((code) => rowOf(code, table)));
  },
});

/** The result codes of `--platform`, else of the profile in use, else those of this project. */
async function tableOf(
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<ResultCodeTable> {
  const { platform } = await resolveSigning(settingSources(context, options));
  const { result_codes } = platform.value;
  if (result_codes === null) return ownResultCodes;
  return parseResultCodes(result_codes, 'the result codes');
}

/** The numbers of a text that may be result codes. */
const numbersOf = (text: string) => text.match(/(?<!\w)-\d+|\d+/g) ?? [];

/**
 * The result code of the table in a text, such as `40101`, `HTTP 200, code 40101` or `no such user`;
 * `undefined` if it has none.
 */
function codeIn(text: string, table: ResultCodeTable): number | undefined {
  const byText = new Map(Array.from(table.keys(), (code) => [String(code), code]));
  const codes = numbersOf(text).flatMap((number) => byText.get(number) ?? []);
  // An HTTP status stands beside the code: 200 is that of many refusals.
  const code = codes.find((number) => number !== resultCode.ok) ?? codes[0];
  if (code !== undefined) return code;
  return [...table].find(([, { msg }]) => msg.toLowerCase() === text.toLowerCase())?.[0];
}

function notInTable(text: string): InvalidInputError {
  const [number = text, ...more] = numbersOf(text);
  const named = more.length > 0 ? text : number;
  return new InvalidInputError(`the code ${quoteName(named)} is not in the table`, {
    hint:
      'It may be one of the platform\'s own: "userinfo probe" learns them from a test deployment. Or ask its ' +
      'operator, and name it under result_codes of the platform file.',
  });
}

function explain(code: number, table: ResultCodeTable) {
  const { means, msg, meaning, fix, hint, retry } = table.get(code) as ResultCodeEntry;
  const isOfProject = means !== undefined && resultCode[means] === code;
  const http_status = isOfProject ? httpStatusOf(resultCode[means]) : undefined;
  const explanation = { code, http_status, msg, meaning, fix, hint, try_again: tryAgain[retry] };
  return withoutUndefined(explanation);
}

/** The same for a person. */
function inWords(code: number, table: ResultCodeTable) {
  const { fix, hint, try_again, ...rest } = explain(code, table);
  const { retry } = table.get(code) as ResultCodeEntry;
  return {
    ...rest,
    'who can fix it': fix,
    'what to do': hint,
    'try again': tryAgainInWords[retry],
  };
}

/** What the table of all codes says of one. */
function shortRow(code: number, table: ResultCodeTable) {
  const { meaning, http_status, 'what to do': hint, ...short } = inWords(code, table);
  return short;
}

const repeatable = endpoints
  .filter((endpoint) => endpoint.repeatable)
  .map(({ operation }) => operation);

const tryAgain: Readonly<Record<ResultCodeEntry['retry'], string>> = {
  always: 'any',
  later: 'any',
  repeatable: repeatable.join(','),
  never: 'none',
};

const tryAgainInWords: Readonly<Record<ResultCodeEntry['retry'], string>> = {
  always: 'yes',
  later: 'yes, after a pause',
  repeatable: `only a ${repeatable.join(', ')}`,
  never: 'no',
};
