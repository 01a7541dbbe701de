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
  run: async (
    { context, options, isTable, print }: Invocation<ConnectionOptions>,
    words: string[],
  ) => {
    const table = await tableOf(context, options);
    if (words.length > 0) return print(explain(codeIn(words.join(' '), table), table));
    const all = [...table.keys()].map((code) => explain(code, table));
    if (!isTable) return print(all);
    await print(all.map(({ code, msg, fix, try_again }) => ({ code, msg, fix, try_again })));
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

/**
 * The result code in a text, such as `40101` or `HTTP 200, code 40101`.
 *
 * @throws InvalidInputError if the table has none of its numbers
 */
function codeIn(text: string, table: ResultCodeTable): number {
  const numbers = text.match(/(?<!\w)-\d+|\d+/g) ?? [];
  const byText = new Map(Array.from(table.keys(), (code) => [String(code), code]));
  const codes = numbers.flatMap((number) => byText.get(number) ?? []);
  // An HTTP status stands beside the code: 200 is that of many refusals.
  const code = codes.find((number) => number !== resultCode.ok) ?? codes[0];
  if (code !== undefined) return code;
  const [number = text, ...more] = numbers;
  const named = more.length > 0 ? text : number;
  throw new InvalidInputError(`the code ${quoteName(named)} is not in the table`, {
    hint: "It may be one of the platform's own: ask its operator, and name it under result_codes of the platform file.",
  });
}

function explain(code: number, table: ResultCodeTable) {
  const { means, msg, meaning, fix, hint, retry } = table.get(code) as ResultCodeEntry;
  const isOfProject = means !== undefined && resultCode[means] === code;
  const http_status = isOfProject ? httpStatusOf(resultCode[means]) : undefined;
  const explanation = { code, http_status, msg, meaning, fix, hint, try_again: tryAgain[retry] };
  return withoutUndefined(explanation);
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
