import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';

const program = new URL('../../bin/userinfo.cjs', import.meta.url).pathname;
const driver = new URL('../support/with-name-server.mjs', import.meta.url).pathname;
const apart = ['--map-root-user', '--mount', '--net'];
const works = spawnSync('unshare', [...apart, 'ip', 'link', 'set', 'lo', 'up']).status === 0;

const read = (host: string) => ['read', 'c', '--base-url', `http://${host}:PORT`, '--json', '--allow-http'];
const commands = {
  read: [...read('silent.example'), '--timeout', '1s'],
  doctor: ['doctor', '--json', '--timeout', '1s', '--base-url', 'https://silent.example'],
  admin: ['admin', 'app', 'list', '--database', 'postgres://u@silent.example/x?connect_timeout=1'],
  serve: ['serve', '--database', 'postgres://u@silent.example/x?connect_timeout=1'],
  listed: read('silent-but-listed.example'),
  slow: read('slow.example'),
  known: read('known.example'),
  unknown: [...read('unknown.example'), '--attempts', '1'],
};

describe.skipIf(!works)('names (needs unshare and ip, and the right to use them)', () => {
  let ended: Record<keyof typeof commands, { status: number | null; stdout: string; stderr: string }>;
  let left: string[];

  beforeAll(() => {
    const lines = Object.values(commands).map((args) => [process.execPath, program, ...args]);
    const given = JSON.stringify({ commands: lines, killAfterMs: 40_000 });
    const env = {
      ...process.env,
      USERINFO_ENVIRONMENT: 'test',
      USERINFO_TENANT_CODE: 'acme',
      USERINFO_CHANNEL: 'web',
      USERINFO_APP_KEY: 'k',
      USERINFO_APP_SECRET: 's',
    };
    const args = [...apart, process.execPath, driver, given];
    const found = JSON.parse(execFileSync('unshare', args, { encoding: 'utf8', env }));
    ended = Object.fromEntries(
      Object.keys(commands).map((name, i) => [name, found.ended[i]]),
    ) as typeof ended;
    left = found.left;
  });

  it('a silent name server keeps no command beyond its deadline, and no process', () => {
    const statuses = [ended.read, ended.doctor, ended.admin, ended.serve].map(({ status }) => status);
    expect(statuses).toEqual([5, 5, 2, 2]);
    expect(ended.read.stderr).toContain('did not answer within 1000 ms');
    expect(ended.doctor.stdout).toContain('cannot resolve the host name of silent.example (EAI_AGAIN)');
    expect(ended.admin.stderr).toContain('the database does not answer');
    expect(left).toEqual([]);
  });

  it('names are found as the system finds them: in its file, by a slow name server and by a prompt one', () => {
    for (const { status, stdout } of [ended.listed, ended.slow, ended.known]) {
      expect([status, JSON.parse(stdout).data.union_id]).toEqual([0, 'u001']);
    }
    expect(ended.unknown.status).toBe(5);
    expect(ended.unknown.stderr).toContain('cannot resolve the host name of unknown.example');
    expect(ended.unknown.stderr).toContain('ENOTFOUND');
  });
});
