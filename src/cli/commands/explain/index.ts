import { endpoints } from '../../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { parseResultCodes } from '../../../core/contract/result-code-table.js';
import {
  httpStatusOf,
  ownResultCodes,
  type ResultCodeEntry,
  resultCode,
} from '../../../core/contract/result-codes.js';
import { resolveSigning } from '../../../core/profiles/settings.js';
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
    const entries = [...(await tableOf(context, options))];
    if (words.length === 0) {
      const all = entries.map(explain);
      return print(
        isTable ? all.map(({ code, msg, fix, try_again }) => ({ code, msg, fix, try_again })) : all,
      );
    }
    const text = words.join(' ');
    const numbers = text.match(/(?<!\w)-\d+|\d+/g) ?? [];
    const named = numbers.flatMap((number) =>
      entries.filter(([known]) => String(known) === number),
    );
    // An HTTP status stands beside the code: 200 is that of many refusals.
    const found = named.find(([known]) => known !== resultCode.ok) ?? named[0];
    if (found === undefined) {
      const [code = text, ...more] = numbers;
      throw new InvalidInputError(
        `the code ${quoteName(more.length > 0 ? text : code)} is not in the table`,
        {
          hint: "It may be one of the platform's own: ask its operator, and name it under result_codes of the platform file.",
        },
      );
    }
    return print(explain(found));
  },
});

/** The result codes of `--platform`, else of the profile in use, else those of this project. */
async function tableOf(context: CliContext, options: CommonOptions & ConnectionOptions) {
  const { result_codes } = (await resolveSigning(settingSources(context, options))).platform.value;
  return result_codes === null
    ? ownResultCodes
    : parseResultCodes(result_codes, 'the result codes');
}

function explain([code, { means, msg, meaning, fix, hint, retry }]: readonly [
  number,
  ResultCodeEntry,
]) {
  const isOwn = means !== undefined && resultCode[means] === code;
  const status = isOwn ? { http_status: httpStatusOf(resultCode[means]) } : {};
  return { code, ...status, msg, meaning, fix, hint, try_again: tryAgain[retry] };
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
