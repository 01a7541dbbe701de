import { buildPassback, type PlainRequest } from '../../../client/call/request.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import type { PassbackTarget } from '../../../core/contract/passback.js';
import { type ResultCode, resultCode } from '../../../core/contract/result-codes.js';
import {
  parseUserInfo,
  reservedKeys,
  specialUserInfoKeys,
  toUserInfo,
  type UserInfoEntries,
} from '../../../core/contract/user-info.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import { asksForShortHelp, listNames } from '../../command-line/help-layout.js';
import { parseFilled } from '../../command-line/options.js';
import { inputName, parseJson, readText } from '../../input.js';
import { callService } from '../../request/call-service.js';
import { requestDoubts } from '../../request/doubts.js';
import { isRowsName, rowsFileError } from '../../request/file-argument.js';
import type { OperationCall } from '../../request/operation-call.js';
import { addRequestOptions, type RequestOptions } from '../../request/preview.js';
import { parsePairs, warnOfKeys } from './pairs.js';

interface PassbackRequestOptions {
  readonly unionId?: string;
  readonly primaryKey?: string;
  readonly userInfo?: string;
}

type PassbackOptions = PassbackRequestOptions & RequestOptions;

/** A passback that is sent or explained. */
export const passbackCall: OperationCall<PassbackRequestOptions, [pairs: readonly string[]]> = {
  takesForRequest: (command) =>
    command
      .argument('[pairs...]', 'key=text, key:=json (a number, true), key=@file')
      .option(
        '--union-id <id>',
        'union ID of the user; takes priority over --primary-key',
        parseFilled('--union-id'),
      )
      .option(
        '--primary-key <key>',
        'key of the pair that identifies the user',
        parseFilled('--primary-key'),
      )
      .option('--user-info <json>', 'JSON object with all pairs, or @file; - is standard input'),
  takesForSending: addRequestOptions,
  request: async ({ context, options }, pairs) => {
    const { unionId, primaryKey, userInfo: json } = options;
    return buildRequest({ unionId, primaryKey }, await readUserInfo(context, pairs, json));
  },
};

export const declarePassback = command({
  name: 'passback',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'pass information about a user back',
  help: () => import('./help.txt?raw'),
  takes: (command, { args }) => {
    const declared = passbackCall.takesForSending(passbackCall.takesForRequest(command));
    if (asksForShortHelp(args)) return declared;
    return declared.addHelpText(
      'after',
      () => `${listNames(Object.keys(specialUserInfoKeys), 'Keys with a special meaning')}
Reserved keys, which cannot be passed back: ${reservedKeys.join(', ')}. Any other key is
stored as it is; give it a prefix of your own, such as acme_level.`,
    );
  },
  action: async (invocation: Invocation<PassbackOptions>, pairs: string[]) => {
    const file = pairs.find(isRowsName);
    if (file !== undefined) throw rowsFileError(file);
    const request = await passbackCall.request(invocation, pairs);
    const keys = Object.keys(JSON.parse(request.parameters.get('user_info') ?? '{}'));
    return callService(invocation, request, async (settings) => {
      await warnOfKeys(invocation.io, keys, settings.key_prefix);
      return requestDoubts(request, settings);
    });
  },
});

/** What the contract forbids, in the words of the command line. */
const refusals: Partial<Record<ResultCode, { readonly message?: string; readonly hint: string }>> =
  {
    [resultCode.userNotNamed]: {
      message: 'no user is named',
      hint: 'Add --union-id <id>, or --primary-key <key> with the key of a pair, such as mobile=138... --primary-key mobile.',
    },
    [resultCode.reservedKey]: {
      hint: 'The user is named by --union-id, the channel is that of the profile.',
    },
    [resultCode.primaryKeyNotInUserInfo]: {
      hint: 'Add the pair that has this key, with a value, or name the user by --union-id <id>.',
    },
  };

/** @throws InvalidInputError with the option to add in its hint */
function buildRequest(target: PassbackTarget, userInfo: UserInfoEntries): PlainRequest {
  try {
    return buildPassback(target, () => userInfo);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const { resultCode: code } = error;
    const refusal = refusals[code];
    if (refusal === undefined) throw error;
    const { message = error.message, hint } = refusal;
    throw new InvalidInputError(message, { hint, resultCode: code });
  }
}

/** @throws InvalidInputError if there are neither pairs nor `--user-info`, or both */
async function readUserInfo(
  context: CliContext,
  pairs: readonly string[],
  json: string | undefined,
): Promise<UserInfoEntries> {
  if (json === undefined) {
    if (pairs.length > 0) return toUserInfo(await parsePairs(pairs));
    throw new InvalidInputError('nothing to pass back', {
      hint: 'Give pairs such as acme_level=gold, or a JSON object with --user-info.',
    });
  }
  if (pairs.length > 0)
    throw new InvalidInputError('pairs and --user-info are both given: use one of them');
  const file = json === '-' ? json : /^@(.+)$/s.exec(json)?.[1];
  if (file !== undefined) {
    const text = await readText(context, file, 'a JSON object');
    return parseUserInfoOf(text, inputName(file));
  }
  const hint = `In a shell, put it in single quotes: --user-info '{"acme_level":"gold"}'`;
  return parseUserInfoOf(json, '--user-info', hint);
}

/** @throws InvalidInputError that names the source by `label`, with `hint` if it is not JSON */
function parseUserInfoOf(text: string, label: string, hint?: string): UserInfoEntries {
  if (text.trim() === '') {
    throw new InvalidInputError(`${label} is empty`, {
      hint: 'It has to be a JSON object, such as {"acme_level":"gold"}.',
    });
  }
  parseJson(text, label, hint);
  return parseUserInfo(text);
}
