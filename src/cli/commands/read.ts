import type { Command } from 'commander';
import { readRequest } from '../../client/request.js';
import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import { pasteFault } from '../../protocol/pasted-text.js';
import { callService } from '../call/call-service.js';
import { addRequestOptions, type RequestOptions } from '../call/preview.js';
import { asTheyAre, refusePasted, retyped } from '../call/refuse-pasted.js';
import { type Call, type CliContext, command } from '../command.js';
import { listNames } from '../command-line/help-layout.js';
import { parseFilled } from '../command-line/option-values.js';
import { checkQuery, readNames, specialNames } from '../info-names.js';
import { printMessage, readValue } from '../io.js';
import { isRowsFile, rowsFileError } from './bulk/rows-file.js';

interface ReadOptions extends RequestOptions {
  readonly scope?: string;
  readonly anyName?: boolean;
}

/** The arguments and the request of a read that is sent or explained. */
export const readCall = {
  takes: (command: Command) =>
    command
      .argument('<code>', 'authorization code; - for standard input')
      .argument('[names...]', 'information to read, separated by spaces or commas (default: all)')
      .option('--any-name', 'send code and names as they are, also what looks misspelt or pasted')
      .option(
        '--scope <scope>',
        'authorization type (default: not sent, the service applies its own)',
        parseFilled('--scope'),
      ),
  request: async ({ context, options }: Call<ReadOptions>, given: string, names: readonly string[]) => {
    const { scope, anyName } = options;
    return readRequest({
      code: await givenCode(context, given, anyName),
      ...(names.length === 0 ? {} : { infoNames: readNames(context, names, anyName) }),
      ...(scope === undefined ? {} : { scope }),
    });
  },
};

export const declareRead = command({
  name: 'read',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: "read a user's information with an authorization code",
  takes: (command, { io }) => {
    return addRequestOptions(readCall.takes(command)).addHelpText(
      'after',
      () => `${listNames(Object.keys(specialNames(io)), 'Names with a special meaning')}
Any other name is a key that an application passed back, such as acme_level.
Names missing from the answer are reported on stderr.`,
    );
  },
  run: async (call: Call<ReadOptions>, code: string, names: string[]) => {
    if (isRowsFile(code)) throw rowsFileError(code, 'read');
    const request = await readCall.request(call, code, names);
    const { query = '', anyName } = call.options;
    if (!anyName) checkQuery(call.context, query, call.style.select?.names ?? [], request.infoNames);
    return callService(call, request);
  },
});

async function givenCode(context: CliContext, code: string, anyName = false): Promise<string> {
  if (code === '') {
    throw new InvalidInputError('the code is empty', {
      hint: 'If it is "$code", the variable is not set: the command that sets it may have failed.',
    });
  }
  const given = code === '-' ? await readValue(context, 'code') : code;
  const trimmed = given.trim();
  const fault = anyName ? null : pasteFault(trimmed, 'code');
  if (fault !== null) {
    const without = fault.meant === null || code === '-' ? [] : retyped(context.args, code, fault.meant);
    refusePasted('the code', fault, without, asTheyAre(context.args));
  }
  if (!anyName && Object.hasOwn(specialNames(context.io), trimmed)) {
    throw new InvalidInputError(`${quoteName(trimmed)} is the name of information, not a code`, {
      hint: 'The code comes first, then the names.',
    });
  }
  if (trimmed === '') throw new InvalidInputError('the code is white space alone');
  if (trimmed !== given)
    await printMessage(context.io, 'the code has white space around it, which is not sent');
  return trimmed;
}
