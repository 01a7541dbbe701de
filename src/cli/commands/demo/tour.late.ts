import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { Command } from 'commander';
import { parseUserRecord } from '../../../core/contract/user-record.js';
import { type Environment, environments } from '../../../core/profiles/profile.js';
import { addProfile, ProfileStore } from '../../../core/profiles/profile-store.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import type { AdminOperations, Service } from '../../../service/index.js';
import type { CliContext, Invocation } from '../../command.js';
import { formatColumns } from '../../command-line/help-layout.js';
import { addCommonOptions } from '../../command-line/options.js';
import { printMessage, write, writeStyled } from '../../io.js';
import { declarePassback } from '../passback/index.js';
import { declareProfile } from '../profile/index.js';
import { declareRead } from '../read/index.js';
import { demoApp, demoUser } from '../serve/demo.late.js';

const next = [
  ['userinfo profile add shop-test', 'your platform: asks for each value'],
  ['userinfo serve --demo', 'no platform? a service to try, with a page'],
  ['userinfo help', 'all commands'],
] as const;

type DemoInvocation = Pick<Invocation, 'context' | 'style'>;

/** The profiles of the tour, of a service each. */
const profileNames = { test: 'shop-test', production: 'shop' } as const;

/** Shows the jobs of the README, in its order, against two services in memory. */
export async function runDemo(invocation: DemoInvocation): Promise<void> {
  const { createService } = await import('../../../service/index.js');
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-demo-'));
  const services: Service[] = [];
  try {
    const profiles = new ProfileStore(folder);
    for (const environment of environments) {
      const service = await createService({ database: ':memory:' });
      services.push(service);
      await addDeployment(profiles, environment, service);
    }
    const [test] = services;
    if (test !== undefined)
      await tour({ ...invocation, context: demoContext(invocation.context, profiles) }, test.admin);
  } finally {
    for (const service of services) await service.close();
    await rm(folder, { recursive: true, force: true });
  }
  const { stdout } = invocation.context.io;
  await write(
    stdout,
    'Nothing of this is kept. Install the command as README.md says, then type:\n',
  );
  await write(stdout, formatColumns(next));
}

/** Adds an app and a user to a service, and a profile that calls it. */
async function addDeployment(
  profiles: ProfileStore,
  environment: Environment,
  { admin, url }: Service,
): Promise<void> {
  const { app_secret: value, ...app } = await admin.createApp(demoApp);
  await admin.putUser(parseUserRecord(JSON.stringify(demoUser)));
  const name = profileNames[environment];
  const profile = { ...app, name, environment, base_url: url } as const;
  await profiles.change((list) =>
    addProfile(list, { ...profile, secret: { kind: 'file', value } }),
  );
}

/** Isolates the demo from the user's profiles and environment variables, and answers its question. */
function demoContext(context: CliContext, profiles: ProfileStore): CliContext {
  const { PATH, TERM, NO_COLOR, FORCE_COLOR } = context.io.env;
  const confirm = async (message: string) => {
    await printMessage({ ...context.io, stderr: context.io.stdout }, `${message} Yes`, '✔ ');
    return true;
  };
  return {
    ...context,
    io: { ...context.io, env: { PATH, TERM, NO_COLOR, FORCE_COLOR } },
    profiles,
    prompt: { ...context.prompt, possible: true, confirm },
  };
}

async function tour(invocation: DemoInvocation, admin: AdminOperations): Promise<void> {
  const { stdout } = invocation.context.io;
  const say = (text: string) => writeStyled(stdout, `${invocation.style.colors.bold(text)}\n\n`);
  const type = (line: string) => typeCommand(invocation, line.split(' '));
  const { tenantCode } = demoApp;
  const unionId = demoUser.union_id;
  const issue = async () => (await admin.issueCode({ tenantCode, unionId })).code;
  await say('1. Read what the code of a sign-in authorizes, in test');
  await type(`read ${await issue()} mobile,chat_nickname`);
  await say('2. Pass values back, and read them');
  await type(`passback acme_level=gold age:=28 --union-id ${unionId}`);
  await type(`read ${await issue()} acme_level,age`);
  await say('3. Switch to production, where a write asks first');
  await type(`profile use ${profileNames.production}`);
  await type(`passback acme_level=gold --union-id ${unionId}`);
}

/** Prints a command as a user would type it, and runs it as `userinfo` would. */
async function typeCommand(
  { context, style }: DemoInvocation,
  args: readonly string[],
): Promise<void> {
  const { io } = context;
  const command = ['userinfo', ...args].map(quoteWhereNeeded).join(' ');
  await writeStyled(io.stdout, `${style.colors.cyan(`$ ${command}`)}\n`);
  const { isTTY, columns } = io.stdout as NodeJS.WriteStream;
  const stdout = Object.assign(new PassThrough(), { isTTY, columns });
  stdout.setEncoding('utf8').on('data', (text: string) => io.stdout.write(text));
  const inner = { ...io, stdin: Readable.from([]), stdout, stderr: io.stdout };
  const program = addCommonOptions(new Command('userinfo'));
  for (const declare of [declarePassback, declareProfile, declareRead])
    declare(program, { ...context, io: inner });
  await program.parseAsync(args, { from: 'user' });
  await write(io.stdout, '\n');
}
