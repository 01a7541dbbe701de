import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ServedMachine } from '../support/served.js';

const example = (name: string) => `'${resolve(import.meta.dirname, '../../examples', name)}'`;

it('service.node-test.mjs passes in the test runner of Node.js', async () => {
  await using machine = await ServedMachine.create();
  const command = `node --test ${example('service.node-test.mjs')}`;
  const { status, stdout } = await machine.shell(command);
  expect([status, stdout]).toEqual([0, expect.stringMatching(/pass 2\n/)]);
});

it('nightly.sh prints what a person has to do, and nothing where there is nothing', async () => {
  await using machine = await ServedMachine.create();
  const nightly = (file: string) => machine.shell(`set -- ${file}; . ${example('nightly.sh')}`);
  const mixed = machine.file('mixed.csv', 'union_id,acme_level\nu001,gold\nnobody,gold\n');
  const refused = await nightly(mixed);
  expect(refused.status).toBe(6);
  expect(refused.stdout).toContain(`correct them in ${mixed}.failed.csv`);
  expect(readFileSync(`${mixed}.failed.csv`, 'utf8')).toContain('nobody,gold');

  const good = await nightly(machine.file('good.csv', 'union_id,acme_level\nu001,gold\n'));
  expect([good.status, good.stdout]).toEqual([0, '']);
});
