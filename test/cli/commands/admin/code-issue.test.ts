import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Machine } from '../../../support/cli.js';

it('issues a code to the user of each row, and names the rows without a user', async () => {
  using machine = new Machine();
  const admin = (args: readonly string[], stdin = '') =>
    machine.run(['admin', ...args, '--database', machine.database], { stdin });
  const issue = (args: readonly string[], stdin = '') =>
    admin(['code', 'issue', '--tenant-code', 'acme', ...args], stdin);
  const ids = Array.from({ length: 1100 }, (_, i) => `u${i}`);
  const put = ids.map((union_id) => JSON.stringify({ tenant_code: 'acme', union_id })).join('\n');
  expect((await admin(['user', 'put'], put)).status).toBe(0);

  writeFileSync(
    join(machine.folder, 'users.csv'),
    `vip,id\n${ids.map((id) => `1,${id}\n`).join('')}`,
  );
  const all = await issue(
    '--from users.csv --union-id-column id --names mobile --uses 2 --ttl 2h'.split(' '),
  );
  expect([all.status, all.stderr]).toEqual([0, '']);
  const codes = all.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(codes.map(({ union_id }) => union_id)).toEqual(ids);
  expect(new Set(codes.map(({ code }) => code)).size).toBe(1100);
  expect(codes[0]).toMatchObject({ tenant_code: 'acme', info_names: ['mobile'], uses_left: 2 });
  expect(Math.round((codes[0].expires_at - Date.now() / 1000) / 3600)).toBe(2);
  const audit = await admin(['audit', '--query', "[?action=='code issue'].subject", '--json']);
  // In one line, unless a minute began in between.
  const counts = JSON.parse(audit.stdout).map((subject: string) => Number.parseInt(subject, 10));
  expect(counts.length).toBeLessThanOrEqual(2);
  expect(counts.reduce((sum: number, count: number) => sum + count)).toBe(1100);

  // What is issued is printed, and nothing is where a row is invalid.
  const rows = ['u1', 'nobody', 'u2']
    .map((union_id) => `${JSON.stringify({ union_id })}\n`)
    .join('');
  const some = await issue(['--from', '-', '--format', 'ndjson', '-o', 'csv'], rows);
  expect(some.status).toBe(6);
  expect(some.stdout.match(/,u[12],/g)).toEqual([',u1,', ',u2,']);
  expect(some.stderr).toContain('no such user in tenant "acme", in 1 of 3 rows: line 2\n');
  const broken = await issue(['--from', '-'], 'union_id\nu1\n""\nu2\n');
  expect([broken.status, broken.stdout]).toEqual([2, '']);
  expect(broken.stderr).toContain('line 3: "union_id" has no value');
  for (const [args, words] of [
    [[], 'give either --union-id or --from'],
    [['--from', 'users.csv', '--union-id', 'u1'], 'give either --union-id or --from'],
  ] as const) {
    const stderr = expect.stringContaining(words);
    expect(await issue(args)).toMatchObject({ status: 2, stdout: '', stderr });
  }
  const mistyped = await admin(['code', 'issue', '--tenant-code', 'amce', '--union-id', 'u1']);
  expect(mistyped.stderr).toContain('no app belongs to the tenant "amce"');
  expect(mistyped.status).toBe(2);
});
