import { afterAll, describe, expect, it } from 'vitest';
import {
  endpoints,
  type OperationName,
  type OwnParameterName,
} from '../../../src/core/contract/endpoints.js';
import { deploymentVariables, Machine } from '../../support/cli.js';

const machine = new Machine();
afterAll(() => machine[Symbol.dispose]());

/** How each parameter of an operation is given on the command line, and what is sent then. */
const typed: Readonly<
  Record<OwnParameterName, { readonly args: readonly string[]; readonly sent: string }>
> = {
  code: { args: ['c1'], sent: 'c1' },
  scope: { args: ['--scope', 'all'], sent: 'all' },
  info_name: { args: ['mobile', 'acme_level'], sent: 'mobile,acme_level' },
  union_id: { args: ['--union-id', 'u1'], sent: 'u1' },
  primary_key: { args: ['--primary-key', 'a'], sent: 'a' },
  user_info: { args: ['a=b'], sent: '{"a":"b"}' },
};

/** The parameters without which an operation has no request, and one that names the user. */
const needed: Readonly<Record<OperationName, readonly (keyof typeof typed)[]>> = {
  read: ['code'],
  passback: ['user_info', 'union_id'],
};

const isTyped = (name: string): name is keyof typeof typed => Object.hasOwn(typed, name);

describe.each(endpoints)('$operation', ({ operation, parameters }) => {
  it.each(parameters.map(({ name }) => name).filter(isTyped))('sends %s', async (name) => {
    const names = [...new Set([...needed[operation], name])];
    const args = names.flatMap((each) => typed[each].args);
    const preview = ['--dry-run', '--reveal', '--json'];
    const { stdout } = await machine.run([operation, ...args, ...preview], {
      env: deploymentVariables('http://127.0.0.1:9'),
    });
    const { query, form = {} } = JSON.parse(stdout);
    expect({ ...query, ...form }).toMatchObject({ [name]: typed[name].sent });
  });
});
