import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ProfileStore } from '../../profiles/profile-store.js';
import type { Service } from '../../service/index.js';
import type { CliContext } from '../context.js';
import { demoApp, demoProfile, demoUser } from '../demo-data.js';
import type { DemoShell } from '../demo-shell.js';
import { examples } from '../examples.js';
import type { CommonOptions } from '../options.js';
import { colorsFor } from '../output/color.js';

export function declareDemo(program: Command, context: CliContext): void {
  const command = program
    .command('demo')
    .summary('see all of it at work, against a service of its own')
    .description(
      'Start the service on a free port with an empty store in memory, and show the commands that make an app, ' +
        'a user and a code, pass information back and read it. Nothing is left behind.',
    )
    .addHelpText(
      'after',
      examples(
        ['userinfo demo', 'takes a few seconds'],
        ['userinfo demo --no-color | less', 'to read at leisure'],
      ),
    )
    .action(() => runDemo(context, command.optsWithGlobals()));
}

async function runDemo(context: CliContext, { color }: CommonOptions): Promise<void> {
  const { io } = context;
  const [{ createService }, { DemoShell }] = await Promise.all([
    import('../../service/index.js'),
    import('../demo-shell.js'),
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-demo-'));
  const service = await createService({ database: ':memory:' });
  try {
    const colors = colorsFor(io.stdout, io.env, color);
    await tour(new DemoShell(demoContext(context, service, folder), colors.cyan), service.url);
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The user's own profiles, environment variables and database stay out of it. */
function demoContext(context: CliContext, service: Service, folder: string): CliContext {
  const { PATH, TERM, NO_COLOR, FORCE_COLOR } = context.io.env;
  return {
    ...context,
    io: { ...context.io, env: { PATH, TERM, NO_COLOR, FORCE_COLOR } },
    profiles: new ProfileStore(folder),
    openAdmin: async () => ({ ...service.admin, close: leaveOpen, [Symbol.asyncDispose]: leaveOpen }),
  };
}

/** The store is the service's: a command is not the one to close it. */
async function leaveOpen(): Promise<void> {}

async function tour(shell: DemoShell, url: string): Promise<void> {
  const { tenantCode, channel } = demoApp;
  const app = [
    '--tenant-code',
    tenantCode,
    '--channel',
    channel,
    '--profile',
    demoProfile,
    '--base-url',
    url,
  ];
  await shell.type(['admin', 'app', 'create', ...app]);
  await shell.type(['admin', 'user', 'put'], JSON.stringify(demoUser));
  await shell.type([
    'passback',
    'acme_level=gold',
    'age:=28',
    'name=张三/李四',
    '--union-id',
    demoUser.union_id,
  ]);
  const issue = ['admin', 'code', 'issue', '--tenant-code', tenantCode, '--union-id', demoUser.union_id];
  const first = await shell.type(issue);
  await shell.type(['read', first.trim()]);
  const second = await shell.type(issue);
  await shell.type(['read', second.trim(), 'mobile,acme_level', 'device_info', 'location_info']);
}
