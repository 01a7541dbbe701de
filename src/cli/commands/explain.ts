import type { Command } from 'commander';
import { InvalidInputError } from '../../protocol/errors.js';
import { entryOf, httpStatusOf, type ResultCode, resultCodes } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import { addCommand } from '../command.js';
import type { CliContext } from '../context.js';

export function declareExplain(program: Command, context: CliContext): void {
  addCommand(program, context, {
    name: 'explain',
    summary: 'explain a result code, and what to do about it',
    description:
      'Explain a result code of the service: what it means, who can fix it, and whether to retry. ' +
      'The codes are those of "userinfo serve"; a platform may have others of its own.',
    examples: [
      ['userinfo explain 40102', 'one code'],
      ['userinfo explain --json', 'all codes, for a program'],
    ],
    takes: (command) => command.argument('[code]', 'the code of an answer; all of them unless given'),
    run: ({ isTable, print }, code: string | undefined) => {
      if (code !== undefined) {
        const explained = explain(requireCode(code));
        return print(isTable ? inWords(explained) : explained);
      }
      const all = resultCodes.map(explain);
      return print(
        isTable ? all.map(({ code, msg, fix, try_again }) => ({ code, msg, fix, try_again })) : all,
      );
    },
  });
}

/** @throws InvalidInputError for an unknown code */
function requireCode(text: string): ResultCode {
  const code = resultCodes.find((known) => String(known) === text);
  if (code !== undefined) return code;
  throw new InvalidInputError(`the code ${quoteName(text)} is not in the table`, {
    hint: 'It may be one of the platform\'s own: ask its operator. "userinfo explain" lists the table.',
  });
}

function explain(code: ResultCode) {
  const { msg, meaning, fix, hint, retry } = entryOf(code);
  return { code, http_status: httpStatusOf(code), msg, meaning, fix, hint, try_again: tryAgain[retry] };
}

const tryAgain = { always: 'any', later: 'any', passback: 'passback', never: 'none' } as const;

const againInWords = {
  any: 'yes, unchanged: it was not processed',
  passback: 'a passback, yes: it writes the same again; a read, no: its code may be used up',
  none: 'no',
};

function inWords({ http_status, fix, hint, try_again, ...rest }: ReturnType<typeof explain>): object {
  const words = { 'HTTP status': http_status, 'who fixes it': fix, 'what to do': hint };
  return { ...rest, ...words, 'try again': againInWords[try_again] };
}
