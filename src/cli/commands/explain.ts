import { activeProfile } from '../../profiles/profile-store.js';
import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { parseResultCodes } from '../../protocol/result-code-table.js';
import {
  httpStatusOf,
  ownResultCodes,
  type ResultCodeEntry,
  resultCode,
} from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { readResultCodes } from '../client-options.js';
import { type Call, command } from '../command.js';
import type { CliContext } from '../context.js';
import type { CommonOptions, ConnectionOptions } from '../options.js';

export const declareExplain = command({
  name: 'explain',
  common: ['profile', 'output'],
  summary: 'explain a result code, and what to do about it',
  description:
    'Explain a result code of the service: what it means, who can fix it, and whether to retry. ' +
    'The codes are those of "userinfo serve", unless --result-codes or the profile has those of the platform.',
  examples: [
    ['userinfo explain 40102', 'one code'],
    ['userinfo explain --json', 'all codes, for a program'],
  ],
  takes: (command) =>
    command
      .argument('[code]', 'the code of an answer; all of them unless given')
      .option('--result-codes <file>', "JSON file of the platform's own result codes"),
  run: async ({ context, options, isTable, print }: Call<ConnectionOptions>, code: string | undefined) => {
    const entries = [...(await tableOf(context, options))];
    if (code === undefined) {
      const all = entries.map(explain);
      return print(
        isTable ? all.map(({ code, msg, fix, try_again }) => ({ code, msg, fix, try_again })) : all,
      );
    }
    const found = entries.find(([known]) => String(known) === code);
    if (found === undefined) {
      throw new InvalidInputError(`the code ${quoteName(code)} is not in the table`, {
        hint: "It may be one of the platform's own: ask its operator, and name it in a file for --result-codes.",
      });
    }
    return print(isTable ? inWords(explain(found)) : explain(found));
  },
});

/** The result codes of `--result-codes`, else of the profile in use, else those of this project. */
async function tableOf(context: CliContext, options: CommonOptions & ConnectionOptions) {
  const given =
    (await readResultCodes(context, options.resultCodes)) ?? (await codesOfProfile(context, options.profile));
  return given === undefined ? ownResultCodes : parseResultCodes(given, 'the result codes');
}

async function codesOfProfile({ profiles }: CliContext, named: string | undefined) {
  if (named !== undefined) return (await profiles.get(named)).result_codes;
  try {
    return activeProfile(await profiles.load())?.result_codes;
  } catch (error) {
    if (error instanceof UserInfoError) return undefined; // a damaged file does not prevent an explanation
    throw error;
  }
}

function explain([code, { means, msg, meaning, fix, hint, retry }]: readonly [number, ResultCodeEntry]) {
  const isOwn = means !== undefined && resultCode[means] === code;
  const status = isOwn ? { http_status: httpStatusOf(resultCode[means]) } : {};
  return { code, ...status, msg, meaning, fix, hint, try_again: tryAgain[retry] };
}

const tryAgain = { always: 'any', later: 'any', passback: 'passback', never: 'none' } as const;

const againInWords = {
  any: 'yes, unchanged: it was not processed',
  passback: 'a passback, yes: it writes the same again; a read, no: its code may be used up',
  none: 'no',
};

function inWords({ code, http_status, msg, meaning, fix, hint, try_again }: ReturnType<typeof explain>) {
  const status = http_status === undefined ? {} : { 'HTTP status': http_status };
  const advice = { 'who fixes it': fix, 'what to do': hint, 'try again': againInWords[try_again] };
  return { code, msg, meaning, ...status, ...advice };
}
