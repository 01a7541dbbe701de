import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { printedBy } from '../support/cli.js';
import { freePort } from '../support/free-port.js';

// There is no engine here: the Dockerfile is linted, and its steps are run in empty folders, one
// for each stage.

const project = join(import.meta.dirname, '..', '..');
const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8');

/** One instruction, such as `COPY`, and what follows it. */
const instructions = [...dockerfile.replaceAll('\\\n', ' ').matchAll(/^([A-Z]+) +(.*)$/gm)].map(
  ([, name = '', text = '']) => [name, text.trim()] as const,
);
const textsOf = (wanted: string) =>
  instructions.filter(([name]) => name === wanted).map(([, text]) => text);

/**
 * Nobody: what the image's files do not allow others is forbidden to it, as in a read-only root.
 */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let folder: string;
let root: string;

/**
 * Runs the stages; a command of the last one makes folders of a user that is not here, so it is not
 * run.
 */
function build(): string {
  let stage = '';
  let workdir = '/';
  let names = 0;
  const stages = new Map<string, string>();
  const [, last] = textsOf('FROM');
  for (const [name, text] of instructions) {
    if (name === 'FROM') {
      stage = join(folder, `stage-${names++}`);
      mkdirSync(stage);
      stages.set(text.split(' AS ')[1] ?? text, stage);
      if (text === last) workdir = '/';
    } else if (name === 'WORKDIR') {
      workdir = text;
      mkdirSync(join(stage, workdir), { recursive: true });
    } else if (name === 'COPY') {
      const [, from, rest = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(text) ?? [];
      const source = from === undefined ? project : (stages.get(from) ?? '');
      const paths = rest.split(' ');
      const target = join(stage, paths.at(-1)?.startsWith('/') ? '' : workdir, paths.pop() ?? '');
      for (const path of paths) {
        const isFile = basename(path).includes('.');
        cpSync(join(source, path), isFile ? join(target, basename(path)) : target, {
          recursive: true,
        });
      }
    } else if (text === 'npm ci --ignore-scripts') {
      // The project has these packages, from the same lock file.
      symlinkSync(join(project, 'node_modules'), join(stage, workdir, 'node_modules'));
    } else if (name === 'RUN' && stages.size === 1) {
      execFileSync('sh', ['-c', text], { cwd: join(stage, workdir), stdio: 'pipe' });
    }
  }
  return stage;
}

const inRoot = (word: string) => word.replace(/^\/(userinfo|data)/, (path) => join(root, path));
const variables = () =>
  textsOf('ENV').flatMap((text) =>
    text.split(/ +/).map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return [name, inRoot(value)] as const;
    }),
  );
const commandOf = (name: string): string[] =>
  JSON.parse(textsOf(name)[0]?.replace(/^.*?CMD /, '') ?? '[]');

// The image is for Linux.
describe.skipIf(process.platform !== 'linux')('the container (needs Linux)', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'userinfo-container-'));
    chmodSync(folder, 0o755);
    root = build();
    chmodSync(join(root, 'data'), 0o777);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('passes a linter, and ends as a user without rights', () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(textsOf('USER')).toEqual(['node']);
    expect(instructions.map(([name]) => name)).toContain('HEALTHCHECK');
  });

  it('copies only what .dockerignore lets in, and no tools of the build', () => {
    const ignore = readFileSync(join(project, '.dockerignore'), 'utf8').trimEnd().split('\n');
    expect(ignore[0]).toBe('*');
    const copied = textsOf('COPY').flatMap((text) =>
      text.startsWith('--') ? [] : text.split(' ').slice(0, -1),
    );
    expect(
      ignore
        .slice(1)
        .map((line) => line.slice(1))
        .sort(),
    ).toEqual(copied.sort());
    expect(existsSync(join(root, 'userinfo/dist/sqlite'))).toBe(true);
    expect(existsSync(join(root, 'userinfo/node_modules'))).toBe(false);
  });

  it('serves without a right to write beyond /data, reports its health, and ends at SIGTERM', async () => {
    const port = await freePort();
    const words = [...commandOf('ENTRYPOINT'), ...commandOf('CMD')].map(inRoot);
    const env = {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      ...Object.fromEntries(variables()),
    };
    const options = { cwd: join(root, 'data'), env, ...nobody };
    const service = spawn(process.execPath, [...words.slice(1), '--port', `${port}`], options);
    const ended = new Promise((resolve) => service.once('exit', resolve));
    const isHealthy = () => {
      const [, ...check] = commandOf('HEALTHCHECK').map((word) => word.replace('8787', `${port}`));
      try {
        execFileSync(process.execPath, check, { env, ...nobody });
        return true;
      } catch {
        return false;
      }
    };
    await printedBy(service, /"event":"listening"/);
    expect(isHealthy()).toBe(true);
    const admin = [
      ...commandOf('ENTRYPOINT').map(inRoot).slice(1),
      'admin',
      'app',
      'create',
      '--json',
    ];
    const app = execFileSync(
      process.execPath,
      [...admin, '--tenant-code', 'acme', '--channel', 'web'],
      options,
    );
    expect(JSON.parse(app.toString())).toHaveProperty('app_secret');
    service.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(isHealthy()).toBe(false);
  });

  it('is composed with a database that is healthy first, and without rights', () => {
    const { services, configs } = parse(readFileSync(join(project, 'compose.yaml'), 'utf8'));
    expect(services.userinfo).toMatchObject({
      build: '.',
      read_only: true,
      cap_drop: ['ALL'],
      depends_on: { database: { condition: 'service_healthy' } },
    });
    // Containers of one service cannot share a published port: the proxy has it.
    expect(services.userinfo).not.toHaveProperty('ports');
    expect(services.proxy).toMatchObject({
      cap_drop: ['ALL'],
      ports: ['127.0.0.1:8787:8787'],
      depends_on: { userinfo: { condition: 'service_healthy' } },
    });
    expect(Object.keys(configs)).toEqual([services.proxy.configs[0].source]);
    expect(services.database.healthcheck.test).toContain('pg_isready');
    // No password is in a file of the project, or in an argument list.
    expect(JSON.stringify(services).match(/\$\{POSTGRES_PASSWORD:\?[^}]+\}/g)).toHaveLength(2);
    expect(services.userinfo.environment.USERINFO_DATABASE).toContain(
      'postgres://userinfo@database/userinfo',
    );
  });
});
