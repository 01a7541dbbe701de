import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { ServedMachine } from '../support/served.js';
import { caFile } from '../support/tls-server.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
const fenced = (language: string) =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] ?? '';
const certificates = join(import.meta.dirname, '../support/certificates');
const folder = mkdtempSync(join(tmpdir(), 'userinfo-operations-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isInstalled = (program: string, ...args: string[]) => spawnSync(program, args).error === undefined;

it.skipIf(!isInstalled('systemd-analyze', '--version'))('systemd takes the unit', () => {
  const unit = fenced('ini').replace('/usr/bin/userinfo', process.execPath);
  writeFileSync(join(folder, 'userinfo.service'), unit);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(folder, 'userinfo.service')], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it.skipIf(!isInstalled('nginx', '-v'))('nginx passes signed requests on, and not the page', async () => {
  await using machine = await ServedMachine.create();
  const port = await freePort();
  const server = fenced('nginx')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('http://127.0.0.1:8787', machine.url)
    .replace('/etc/userinfo/server.crt', join(certificates, 'good.crt'))
    .replace('/etc/userinfo/server.key', join(certificates, 'server.key'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  const main = `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { ${paths}\n${server} }\n`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  try {
    const url = ['--base-url', `https://localhost:${port}`, '--ca-file', caFile, '-p', 'local'];
    const passback = () => machine.run(['passback', 'level=gold', '--union-id', 'u001', '--json', ...url]);
    await expect.poll(async () => (await passback()).status).toBe(0);
    const read = await machine.run(['read', await machine.issueCode(), 'level', '--json', ...url]);
    expect(JSON.parse(read.stdout).data).toEqual({ union_id: 'u001', level: 'gold' });
    const env = { NODE_EXTRA_CA_CERTS: caFile };
    const script = `fetch('https://localhost:${port}/').then(({ status }) => console.log(status))`;
    const { stdout } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
    expect(stdout).toBe('404\n');
  } finally {
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
  }
});
