import { expect, it } from 'vitest';
import { Machine } from '../support/cli.js';

it('admin tenant sets and lists by which keys users are found', async () => {
  using machine = new Machine();
  const admin = (args: string[], stdin = '') =>
    machine.run(['admin', ...args, '--database', machine.database], { stdin });
  const tenant = (...args: string[]) => admin(['tenant', ...args]);
  await admin(
    ['user', 'put'],
    '{"tenant_code":"acme","union_id":"u001","basic_info":{"mobile":"13800138000"},"extension_info":{"level":"gold"}}',
  );
  const find = (key: string, value: string) =>
    admin(['user', 'find', '--tenant-code', 'acme', '--key', key, '--query', '[*].union_id'], value);

  const set = await tenant('set', '--tenant-code', 'acme', '--find-by', 'mobile, id_card');
  expect([set.status, set.stdout, set.stderr]).toEqual([
    0,
    '',
    'users of tenant "acme" are found by mobile, id_card: indexed 1 user\n',
  ]);
  expect(JSON.parse((await find('mobile', '13800138000')).stdout)).toBe('u001');
  const byLevel = await find('level', 'gold');
  expect(byLevel.status).toBe(2);
  expect(byLevel.stderr).toContain('are not found by the key "level"');
  expect(byLevel.stderr).toContain('found by these: mobile, id_card');
  const listed = await tenant('list', '--json');
  expect(JSON.parse(listed.stdout)).toEqual([
    { tenant_code: 'acme', find_by: ['mobile', 'id_card'], ready: true },
  ]);

  const none = await tenant('set', '--tenant-code', 'acme', '--find-by', 'none', '--json');
  expect(JSON.parse(none.stdout)).toEqual({ tenant_code: 'acme', find_by: [], users: 1 });
  expect((await find('mobile', '13800138000')).status).toBe(2);
  await tenant('set', '--tenant-code', 'acme', '--find-by', 'all');
  expect(JSON.parse((await find('level', 'gold')).stdout)).toBe('u001');
  const empty = await tenant('set', '--tenant-code', 'acme', '--find-by', '');
  expect([empty.status, empty.stderr]).toEqual([2, expect.stringContaining('--find-by is empty')]);
  const comma = await tenant('set', '--tenant-code', 'acme', '--find-by', 'mobile,');
  expect([comma.status, comma.stderr]).toEqual([2, expect.stringContaining('a key is missing')]);
});
