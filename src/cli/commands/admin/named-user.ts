import type { Command } from 'commander';
import { InvalidInputError } from '../../../core/contract/errors.js';
import type { NamedUser } from '../../../service/index.js';
import type { CliContext } from '../../command.js';
import { parseFilled } from '../../command-line/options.js';
import { readValue } from '../../input.js';

/** The user that options name. */
export interface UserOptions {
  readonly tenantCode?: string;
  readonly unionId?: string;
  /**
   * The key of the value on standard input: an argument would show it to other users of the
   * machine.
   */
  readonly primaryKey?: string;
}

export function takesNamedUser(command: Command): Command {
  return command
    .option('--union-id <id>', 'union ID of the user', parseFilled('--union-id'))
    .option(
      '--primary-key <key>',
      'key of the value on standard input that names the user, such as mobile',
      parseFilled('--primary-key'),
    );
}

/**
 * The user that options name; `undefined` if they name none.
 *
 * @throws InvalidInputError for both a union ID and a value, or no tenant
 */
export async function namedUser(
  context: CliContext,
  { tenantCode, unionId, primaryKey: key }: UserOptions,
): Promise<NamedUser | undefined> {
  if (unionId === undefined && key === undefined) return undefined;
  if (unionId !== undefined && key !== undefined) {
    throw new InvalidInputError('give either --union-id or --primary-key');
  }
  if (tenantCode === undefined) {
    throw new InvalidInputError('the tenant of the user is missing', {
      hint: 'Add --tenant-code <code>.',
    });
  }
  if (unionId !== undefined) return { tenantCode, unionId };
  return { tenantCode, key: key ?? '', value: await readValue(context, 'value') };
}
