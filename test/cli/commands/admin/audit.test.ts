import { expect, it } from 'vitest';
import { openAdmin } from '../../../../src/service/index.js';
import { Machine } from '../../../support/cli.js';

it('admin audit prints what is asked for, a JSON object a line, and takes no value as an argument', async () => {
  using machine = new Machine();
  const admin = await openAdmin({ database: machine.database, actor: 'anna' });
  const record = { tenant_code: 'acme', basic_info: {}, extension_info: {}, login_device_info: [] };
  await admin.putUser({ ...record, union_id: 'u001', basic_info: { mobile: '13800138000' } });
  await admin.putUser({ ...record, union_id: 'u002' });
  await admin.getUser({ tenantCode: 'acme', unionId: 'u001' });
  const digest = admin.digestUser({ tenantCode: 'acme', unionId: 'u001' });
  await admin.close();
  const run = (args: string[], stdin = '') =>
    machine.run(['admin', ...args, '--database', machine.database], { stdin });
  const lines = (text: string) =>
    text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

  const everything = await run(['audit', '--limit', 'unlimited', '--since', '24h', '-o', 'ndjson']);
  expect(lines(everything.stdout).map(({ action }) => action)).toEqual([
    'user show',
    'user put',
    'user put',
  ]);
  const mine = ['audit', '--tenant-code', 'acme', '--primary-key', 'mobile', '-o', 'ndjson'];
  const byValue = await run(mine, '13800138000\n');
  expect(lines(byValue.stdout)).toMatchObject([
    { action: 'user show', actor: 'anna', subject: '****', user_digest: digest },
    { action: 'user put' },
  ]);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const empty = await run(['audit', '--since', tomorrow, '-o', 'ndjson']);
  expect([empty.status, empty.stdout]).toEqual([0, '']);
  // A table of 80 columns has no room for a digest.
  const table = await run(['audit', '--action', 'user show']);
  expect(table.stdout).toContain('user show');
  expect(table.stdout).not.toContain(digest);
  const printed = await run(['user', 'digest', '--tenant-code', 'acme', '--union-id', 'u001']);
  expect(printed.stdout).toBe(`${digest}\n`);
});

it.each([
  [['audit', '--union-id', 'u001'], 'the tenant of the user is missing'],
  [
    ['audit', '--tenant-code', 'acme', '--union-id', 'u', '--primary-key', 'mobile'],
    'either --union-id or',
  ],
  [['user', 'digest', '--tenant-code', 'acme'], 'either --union-id or'],
  // Of a variable that is not set: "nobody" would be the wrong answer.
  ...['--union-id', '--primary-key', '--tenant-code', '--app-key', '--action'].map(
    (flag): [string[], string] => [['audit', flag, ''], `${flag} is empty`],
  ),
  [['audit', '--since', 'yesterday'], "argument 'yesterday' is invalid. Write it as 2026-11-22"],
  [['audit', '--since', '2026-13-40'], "argument '2026-13-40' is invalid"],
  [['audit', '--limit', 'all'], 'Give a number from 1, or "unlimited"'],
])('refuses %j', async (args, message) => {
  using machine = new Machine();
  const { status, stdout, stderr } = await machine.run([
    'admin',
    ...args,
    '--database',
    ':memory:',
  ]);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});
