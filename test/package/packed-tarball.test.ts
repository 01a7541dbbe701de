import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
let folder: string;

function run(command: string, ...args: string[]): string {
  const env = { ...process.env, USERINFO_CONFIG_DIR: join(folder, 'config') };
  return execFileSync(command, args, { cwd: folder, env, encoding: 'utf8' });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'userinfo-packed-'));
  const listing = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: project,
    encoding: 'utf8',
  });
  const tarball = /"filename": "([^"]+)"/.exec(listing)?.[1] ?? 'no tarball';
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}\n');
  run('npm', 'install', '--ignore-scripts', '--omit=dev', join(folder, tarball));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed tarball, installed into an empty folder without install scripts', () => {
  it('gives a working userinfo', () => {
    expect(run('npx', 'userinfo', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run('npx', 'userinfo', 'demo')).toMatch(/│ acme_level │ gold/);
  });

  it('gives the SDK and the service to a program', () => {
    writeFileSync(
      join(folder, 'program.js'),
      `import { UserInfoClient } from 'userinfo-cli';
       import { createService } from 'userinfo-cli/service';
       const service = await createService();
       const app = await service.admin.createApp({ tenantCode: 'acme', channel: 'web' });
       await service.admin.putUser({ tenant_code: 'acme', union_id: 'u1', basic_info: {}, extension_info: {}, login_device_info: [] });
       const client = new UserInfoClient({
         baseUrl: service.url, tenantCode: 'acme', channel: 'web', appKey: app.app_key, appSecret: app.app_secret,
       });
       const { envelope } = await client.passback({ unionId: 'u1', userInfo: { acme_level: 'gold' } });
       console.log(envelope.code, envelope.data.union_id);
       await client.close();
       await service.close();`,
    );
    expect(run('node', 'program.js')).toBe('200 u1\n');
  });
});
