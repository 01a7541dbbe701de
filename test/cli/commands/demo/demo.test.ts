import { expect, it } from 'vitest';
import { Machine } from '../../../support/cli.js';

it('the demo shows the three jobs in the order of the README, and ends with what to type', async () => {
  using machine = new Machine();
  const { status, stdout, stderr } = await machine.run(['demo']);
  expect([status, stderr]).toEqual([0, '']);
  const typed = [...stdout.matchAll(/^\$ userinfo (.+)$/gm)].map(([, line = '']) =>
    line.replace(/\b[0-9a-f]{32}\b/, 'CODE'),
  );
  expect(typed).toEqual([
    'read CODE mobile,chat_nickname',
    'passback acme_level=gold age:=28 --union-id u001',
    'read CODE acme_level,age',
    'profile use shop',
    'passback acme_level=gold --union-id u001',
  ]);
  expect(stdout).toMatch(/\nproduction: profile "shop".*\n✔ Write acme_level .*\? Yes\n200 ok\n/);
  expect(stdout).toMatch(
    /then type:\n {2}userinfo profile add shop-test .*\n(?: {2}userinfo .*\n)+$/,
  );
});
