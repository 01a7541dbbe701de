import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { emptyProject, nodeOf, project, run } from './tarball.js';

const userinfo = join(project, 'bin/userinfo.cjs');

/** The same service, and one whose codes are not those of this project. */
const platforms = {
  'the result codes of userinfo serve': {},
  'result codes of another platform': {
    result_codes: { 2001: 'noSuchUser', 2002: 'codeNotValid', 2003: 'storeUnavailable' },
    http_status: 200,
  },
};

/** A `userinfo serve`, with the variables that lead a client to it. */
interface Served {
  readonly process: ChildProcess;
  readonly env: Readonly<Record<string, string>>;
  /** Issues a code to the user u001. */
  issueCode(): string;
}

async function serve(name: string, platform: object): Promise<Served> {
  const folder = join(inject('folder'), name);
  mkdirSync(folder);
  const database = ['--database', join(folder, 'users.db')];
  const file = join(folder, 'platform.json');
  writeFileSync(file, JSON.stringify(platform));
  const admin = (...args: string[]) =>
    JSON.parse(run(folder, process.execPath, userinfo, 'admin', ...args, ...database, '--json'));
  const port = await freePort();
  const options = ['serve', '--port', `${port}`, '--platform', file, ...database];
  const server = spawn(process.execPath, [userinfo, ...options], { stdio: 'ignore' });
  const USERINFO_BASE_URL = `http://127.0.0.1:${port}`;
  await answered(`${USERINFO_BASE_URL}/healthz`);
  const { app_key, app_secret } = admin(
    'app',
    'create',
    '--tenant-code',
    'acme',
    '--channel',
    'web',
  );
  const record = join(folder, 'u001.json');
  const basic_info = { mobile: '13800138000' };
  writeFileSync(record, JSON.stringify({ tenant_code: 'acme', union_id: 'u001', basic_info }));
  admin('user', 'put', record);
  return {
    process: server,
    env: {
      USERINFO_BASE_URL,
      USERINFO_TENANT_CODE: 'acme',
      USERINFO_CHANNEL: 'web',
      USERINFO_APP_KEY: app_key,
      USERINFO_APP_SECRET: app_secret,
      USERINFO_PLATFORM: file,
    },
    issueCode: () => admin('code', 'issue', '--tenant-code', 'acme', '--union-id', 'u001').code,
  };
}

/** Waits until something answers at an address. */
async function answered(url: string): Promise<void> {
  for (const began = Date.now(); Date.now() - began < 60_000; await sleep(100)) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) return;
  }
  throw new Error(`nothing answers at ${url}`);
}

/** The Runtime API of AWS Lambda: hands an event to the runtime that asks for one, and receives its result. */
async function lambdaApi(port: number) {
  const asking: ServerResponse[] = [];
  const events: { readonly event: object; readonly done: (result: unknown) => void }[] = [];
  const running = new Map<string, (result: unknown) => void>();
  const handOut = () => {
    while (asking.length > 0 && events.length > 0) {
      const { event, done } = events.shift() as (typeof events)[number];
      const id = `request-${running.size + 1}`;
      running.set(id, done);
      asking.shift()?.setHeader('lambda-runtime-aws-request-id', id).end(JSON.stringify(event));
    }
  };
  const server = createServer(async (request, response) => {
    const [, id = '', kind] =
      /invocation\/([^/]+)(?:\/(response|error))?$/.exec(request.url ?? '') ?? [];
    if (id === 'next') asking.push(response);
    else {
      running.get(id)?.({ kind, result: JSON.parse(await text(request)) });
      response.writeHead(202).end();
    }
    handOut();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const invoke = (event: object) =>
    new Promise<unknown>((done) => {
      events.push({ event, done });
      handOut();
    });
  return { invoke, close: () => server.close() };
}

type Check = (url: string, served: Served) => Promise<void>;

const status = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;

/** The route of `read-user.ts`. */
const readsUser: Check = async (url, { issueCode }) => {
  const answer = await fetch(`${url}/api/user?code=${issueCode()}`);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ union_id: 'u001', mobile: '13800138000' }),
  ]);
  expect(await status(`${url}/api/user?code=none`)).toBe(403);
};

const signsIn: Check = async (url, { issueCode }) => {
  const address = `${url}/sign-in?code=${issueCode()}`;
  expect(await (await fetch(address)).json()).toEqual({ user: 'u001' });
  expect([await status(address), await status(`${url}/sign-in`)]).toEqual([403, 400]);
};

const setsLevel: Check = async (url) => {
  const headers = { 'content-type': 'application/json' };
  const post = (user: string) =>
    status(`${url}/users/${user}/level`, { method: 'POST', headers, body: '{"level":"gold"}' });
  expect([await post('u001'), await post('u999')]).toEqual([204, 404]);
};

interface Framework {
  readonly name: string;
  /** Its project below `frameworks`. Default: the name. */
  readonly folder?: string;
  /** The line of Node that it needs. */
  readonly node: '20' | '24';
  readonly packages: readonly string[];
  /** Where it has the examples. */
  readonly examples: Readonly<Record<string, string>>;
  /** The program of a package, and its arguments. */
  readonly build: readonly [program: string, ...args: string[]];
  /** What Node runs; each of them. */
  readonly start: readonly (readonly string[])[];
  readonly check?: Check;
}

const typescript = ['typescript@5.9.3', '@types/node@20.19.43'];
const compile = [
  'main.ts',
  '--outDir',
  'out',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--strict',
];
const tsc = [
  'typescript/bin/tsc',
  ...compile,
  '--skipLibCheck',
  '--experimentalDecorators',
] as const;
const compiled = { node: '20', build: tsc, start: [['out/main.js']] } as const;
const route = (folder: string, file: string, example: string) => ({
  [`${folder}/${file}`]: example,
  [`${folder}/read-user.ts`]: 'read-user.ts',
  [`${folder}/client.ts`]: 'client.ts',
});

const react = ['react@19.2.9', 'react-dom@19.2.9', '@types/react@19.3.0', ...typescript];
const next = {
  folder: 'next',
  node: '20',
  examples: route('app/api/user', 'route.ts', 'nextjs-route.ts'),
  build: ['next/dist/bin/next', 'build'],
  start: [['node_modules/next/dist/bin/next', 'start'], ['.next/standalone/server.js']],
} as const;

const frameworks: readonly Framework[] = [
  {
    ...compiled,
    name: 'express',
    packages: ['express@5.3.0', '@types/express@5.0.6', ...typescript],
    examples: { 'express.ts': 'express.ts', 'client.ts': 'client.ts' },
    check: signsIn,
  },
  {
    ...compiled,
    name: 'fastify',
    packages: ['fastify@5.12.8', ...typescript],
    examples: { 'fastify.ts': 'fastify.ts', 'client.ts': 'client.ts' },
    check: signsIn,
  },
  {
    ...compiled,
    name: 'nestjs',
    packages: [
      ...['core', 'common', 'platform-express'].map((part) => `@nestjs/${part}@11.2.10`),
      'reflect-metadata@0.2.2',
      'rxjs@7.8.2',
      ...typescript,
    ],
    examples: { 'nestjs.ts': 'nestjs.ts', 'client.ts': 'client.ts' },
    check: setsLevel,
  },
  {
    name: 'lambda',
    node: '20',
    packages: ['esbuild@0.28.2'],
    examples: { 'lambda.ts': 'lambda.ts', 'client.ts': 'client.ts' },
    build: [
      'esbuild/bin/esbuild',
      ...[
        'lambda.ts',
        '--bundle',
        '--platform=node',
        '--target=node20',
        '--format=esm',
        '--minify',
      ],
      '--outfile=out/index.mjs',
    ],
    start: [['runtime.mjs']],
  },
  { ...next, name: 'Next.js 15', packages: ['next@15.5.29', ...react] },
  { ...next, name: 'Next.js 16', packages: ['next@16.4.6', ...react] },
  {
    name: 'nuxt',
    node: '24',
    packages: ['nuxt@4.5.2'],
    examples: route('server/api', 'user.get.ts', 'nuxt-handler.ts'),
    build: ['nuxt/bin/nuxt.mjs', 'build'],
    start: [['.output/server/index.mjs']],
  },
  {
    name: 'sveltekit',
    node: '24',
    packages: [
      '@sveltejs/kit@3.2.0',
      '@sveltejs/adapter-node@6.0.1',
      '@sveltejs/vite-plugin-svelte@7.3.1',
      'svelte@5.57.3',
      'vite@8.3.8',
    ],
    examples: route('src/routes/api/user', '+server.ts', 'sveltekit-server.ts'),
    build: ['vite/bin/vite.js', 'build'],
    start: [['build']],
  },
  {
    name: 'react-router',
    node: '24',
    packages: [
      ...['dev', 'serve', 'node'].map((part) => `@react-router/${part}@8.4.0`),
      ...['react-router@8.4.0', 'react@19.2.9', 'react-dom@19.2.9', 'vite@8.3.8', 'isbot@5.2.3'],
    ],
    examples: route('app/routes', 'user.ts', 'react-router-route.ts'),
    build: ['@react-router/dev/bin.cjs', 'build'],
    start: [['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js']],
  },
];

describe('each example in a project of its framework', () => {
  const served: Served[] = [];

  beforeAll(async () => {
    for (const [name, platform] of Object.entries(platforms))
      served.push(await serve(name, platform));
  });

  afterAll(() => {
    for (const { process: server } of served) server.kill();
  });

  it.each(frameworks)(
    '$name',
    async ({
      name,
      folder: source = name,
      node,
      packages,
      examples,
      build,
      start,
      check = readsUser,
    }) => {
      const folder = emptyProject(name);
      cpSync(join(import.meta.dirname, 'frameworks', source), folder, { recursive: true });
      for (const [place, example] of Object.entries(examples)) {
        mkdirSync(dirname(join(folder, place)), { recursive: true });
        cpSync(join(project, 'examples', example), join(folder, place));
      }
      run(folder, 'npm', 'install', '--ignore-scripts', '--silent', inject('tarball'), ...packages);
      const program = node === '20' ? process.execPath : nodeOf(node);
      const [tool, ...args] = build;
      // Without the variables of the client: they are there when it runs.
      await promisify(execFile)(program, [join('node_modules', tool), ...args], {
        cwd: folder,
        env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NUXT_TELEMETRY_DISABLED: '1' },
      });
      for (const command of start) {
        for (const service of served) {
          const port = await freePort();
          const lambda = name === 'lambda' ? await lambdaApi(port) : null;
          const address = { HOST: '127.0.0.1', HOSTNAME: '127.0.0.1', PORT: `${port}` };
          const AWS_LAMBDA_RUNTIME_API = `127.0.0.1:${port}`;
          const server = spawn(program, [...command], {
            cwd: folder,
            env: { ...process.env, ...address, ...service.env, AWS_LAMBDA_RUNTIME_API },
            stdio: 'ignore',
          });
          const ended = once(server, 'exit');
          try {
            if (lambda === null) {
              const url = `http://127.0.0.1:${port}`;
              await answered(url);
              await check(url, service);
            } else {
              const write = (unionId: string) =>
                lambda.invoke({ unionId, userInfo: { acme_level: 'gold' } });
              const answer = (statusCode: number, body: string) => ({
                kind: 'response',
                result: { statusCode, body },
              });
              expect(await write('u001')).toEqual(answer(200, 'ok'));
              expect(await write('u999')).toEqual(answer(502, 'REJECTED'));
              expect(await write('')).toEqual(answer(400, 'INVALID_INPUT'));
            }
          } finally {
            lambda?.close();
            server.kill();
            await ended;
          }
        }
      }
      rmSync(folder, { recursive: true });
    },
  );
});
