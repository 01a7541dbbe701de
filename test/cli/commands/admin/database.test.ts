import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Machine } from '../../../support/cli.js';

const machine = new Machine();

afterAll(() => machine[Symbol.dispose]());

describe('a database that does not exist', () => {
  it.each([[['app', 'list']], [['user', 'show', '--tenant-code', 'acme', '--union-id', 'u001']]])(
    'is not made by admin %j',
    async (command) => {
      const database = join(machine.folder, 'missing', 'no.db');
      mkdirSync(dirname(database), { recursive: true });
      const { status, stdout, stderr } = await machine.run([
        'admin',
        ...command,
        '--database',
        database,
      ]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(`there is no database at ${database}`);
      expect(stderr).toContain('--database');
      expect(readdirSync(dirname(database))).toEqual([]);
    },
  );

  it('is not created in the data folder, nor is the folder', async () => {
    const env = { XDG_DATA_HOME: join(machine.folder, 'data') };
    const { status, stderr } = await machine.run(['admin', 'app', 'list'], { env });
    expect(status).toBe(2);
    expect(stderr).toContain('there is no database at ');
    expect(existsSync(env.XDG_DATA_HOME)).toBe(false);
  });
});
