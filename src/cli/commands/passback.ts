import type { Command } from 'commander';
import { type PassbackInput, type PlainRequest, passbackRequest } from '../../client/request.js';
import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import { identifyingText } from '../../protocol/passback.js';
import { type PastedKind, pasteFault } from '../../protocol/pasted-text.js';
import {
  parseUserInfo,
  reservedKeys,
  specialUserInfoKeys,
  toUserInfo,
  type UserInfoEntries,
} from '../../protocol/user-info.js';
import { isSlip } from '../../support/nearest-name.js';
import { quoteWhereNeeded } from '../../support/shell.js';
import { callService } from '../call/call-service.js';
import { judgeEntries, misspeltKey, parsePairs, renamed, warnOfKeys } from '../call/pairs.js';
import { addRequestOptions, type RequestOptions } from '../call/preview.js';
import { asTheyAre, refusePasted, retyped } from '../call/refuse-pasted.js';
import { type Call, type CliContext, command } from '../command.js';
import { listNames } from '../command-line/help-layout.js';
import { parseFilled } from '../command-line/option-values.js';
import { inputName, parseJson, readText } from '../io.js';
import { isRowsName, rowsFileError } from './bulk/rows-file.js';

interface PassbackOptions extends RequestOptions {
  readonly unionId?: string;
  readonly primaryKey?: string;
  readonly userInfo?: string;
  readonly anyName?: boolean;
}

/** The arguments and the request of a passback that is sent or explained. */
export const passbackCall = {
  takes: (command: Command) =>
    command
      .argument('[pairs...]', 'key=text, key:=json (a number, true), key=@file')
      .option(
        '--union-id <id>',
        'union ID of the user; takes priority over --primary-key',
        parseFilled('--union-id'),
      )
      .option('--primary-key <key>', 'key of the pair that identifies the user', parseFilled('--primary-key'))
      .option('--user-info <json>', 'JSON object with all pairs, or @file; - is standard input')
      .option('--any-name', 'send user and keys as they are, also what looks misspelt or pasted'),
  request: async ({ context, options }: Call<PassbackOptions>, pairs: readonly string[]) => {
    const { unionId, primaryKey, userInfo: json, anyName } = options;
    const { args } = context;
    if (!anyName) {
      judgeOption(args, '--union-id', unionId ?? '', 'user');
      judgeOption(args, '--primary-key', primaryKey?.replace(/:?=.*$/s, '') ?? '', 'name');
    }
    const userInfo = await readUserInfo(context, pairs, json);
    if (!anyName) await judgeEntries(context, pairs, userInfo);
    const request = namedRequest({ unionId, primaryKey, userInfo });
    if (!anyName && unionId === undefined) {
      const value = identifyingText(userInfo.get(primaryKey ?? '')) ?? '';
      judgeOption(args, `the value of ${quoteName(primaryKey ?? '')}`, value, 'user', `${primaryKey}=`);
    }
    return request;
  },
};

export const declarePassback = command({
  name: 'passback',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'pass information about a user back',
  takes: (command) => {
    return addRequestOptions(passbackCall.takes(command)).addHelpText(
      'after',
      () => `${listNames(Object.keys(specialUserInfoKeys), 'Keys with a special meaning')}
Reserved keys, which cannot be passed back: ${reservedKeys.join(', ')}. Any other key is
stored as it is; give it a prefix of your own, such as acme_level.`,
    );
  },
  run: async (call: Call<PassbackOptions>, pairs: string[]) => {
    const file = pairs.find(isRowsName);
    if (file !== undefined) throw rowsFileError(file, 'passback');
    const request = await passbackCall.request(call, pairs);
    const keys = Object.keys(JSON.parse(request.parameters.get('user_info') ?? '{}'));
    return callService(call, request, async ({ key_prefix }) => {
      if (!call.options.anyName) refuseMisspelt(call.context.args, pairs, keys, key_prefix);
      await warnOfKeys(call.io, keys, key_prefix);
    });
  },
});

/** @throws InvalidInputError for a key that is probably a misspelt special one (§4.2 rule 4) */
function refuseMisspelt(
  args: readonly string[],
  pairs: readonly string[],
  keys: readonly string[],
  prefix: string | null,
): void {
  for (const key of keys) {
    const fault = misspeltKey(key, prefix);
    if (fault === null) continue;
    const corrected = renamed(args, pairs, key, fault.meant);
    refusePasted(`the key ${quoteName(key)}`, fault, corrected, asTheyAre(args));
  }
}

/**
 * Builds the request.
 *
 * @throws InvalidInputError with the missing option in its hint
 */
function namedRequest(
  input: Omit<PassbackInput, 'userInfo'> & { readonly userInfo: UserInfoEntries },
): PlainRequest {
  const { unionId, primaryKey, userInfo } = input;
  const reserved = reservedKeys.find((key) => userInfo.has(key));
  if (reserved !== undefined) {
    throw new InvalidInputError(`"${reserved}" cannot be passed back`, {
      hint:
        reserved === 'union_id'
          ? `Name the user with --union-id ${quoteWhereNeeded(String(userInfo.get(reserved) ?? 'u001'))}`
          : 'The channel is that of the profile.',
    });
  }
  if (unionId === undefined) refuseUnnamed(primaryKey, userInfo);
  return passbackRequest(input, () => userInfo);
}

/** @throws InvalidInputError if `primaryKey` names no user */
function refuseUnnamed(primaryKey: string | undefined, userInfo: UserInfoEntries): void {
  if (primaryKey === undefined) {
    throw new InvalidInputError('the user is not named', {
      hint: 'Add --union-id <id>, or --primary-key <key> with the key of a pair, such as mobile=138... --primary-key mobile.',
    });
  }
  if (primaryKey.includes('=')) {
    const key = primaryKey.replace(/:?=.*$/s, '');
    throw new InvalidInputError('--primary-key takes the key alone', {
      hint: `Give the pair as an argument: ${quoteWhereNeeded(key)}=… --primary-key ${quoteWhereNeeded(key)}`,
    });
  }
  const [meant] =
    [...userInfo].find(
      ([key, value]) =>
        isSlip(key.toLowerCase(), primaryKey.toLowerCase()) || identifyingText(value) === primaryKey,
    ) ?? [];
  if (!userInfo.has(primaryKey)) {
    throw new InvalidInputError(`--primary-key ${quoteName(primaryKey)}: no pair has this key`, {
      hint:
        meant !== undefined
          ? `Did you mean --primary-key ${quoteWhereNeeded(meant)}?`
          : primaryKey === 'union_id'
            ? 'Name the user by --union-id <id>.'
            : `Add the pair, such as ${quoteWhereNeeded(`${primaryKey}=...`)}, or name the user by --union-id <id>.`,
    });
  }
}

/** @throws InvalidInputError for a name of a user that was pasted with something; `before` is what it is typed behind */
function judgeOption(
  args: readonly string[],
  what: string,
  text: string,
  kind: PastedKind,
  before = '',
): void {
  const fault = pasteFault(text, kind);
  if (fault === null || fault.isDoubt) return;
  const without = fault.meant === null ? [] : retyped(args, before + text, before + fault.meant);
  refusePasted(what, fault, without, asTheyAre(args));
}

/** @throws InvalidInputError if there are neither pairs nor `--user-info`, or both */
async function readUserInfo(
  context: CliContext,
  pairs: readonly string[],
  json: string | undefined,
): Promise<UserInfoEntries> {
  if (json === undefined) {
    if (pairs.length > 0) return toUserInfo(await parsePairs(context, pairs));
    throw new InvalidInputError('nothing to pass back', {
      hint: 'Give pairs such as acme_level=gold, or a JSON object with --user-info.',
    });
  }
  if (pairs.length > 0) throw new InvalidInputError('pairs and --user-info are both given: use one of them');
  if (/^\s*\{[^"]*\S[^"]*\}\s*$/.test(json)) {
    const why = /['“”]/.test(json) ? 'it has other quotes' : 'the shell took them off';
    throw new InvalidInputError(`--user-info is JSON without double quotes: ${why}`, {
      hint: `Put it in single quotes: --user-info '{"acme_level":"gold"}'`,
    });
  }
  const file = json === '-' ? json : /^@(.+)$/s.exec(json)?.[1];
  const text = file === undefined ? json : await readText(context, file, 'a JSON object');
  if (text.trim() === '') {
    throw new InvalidInputError(`${file === undefined ? '--user-info' : inputName(file)} is empty`, {
      hint: 'It has to be a JSON object, such as {"acme_level":"gold"}.',
    });
  }
  parseJson(text, file === undefined ? '--user-info' : inputName(file));
  return parseUserInfo(text);
}
