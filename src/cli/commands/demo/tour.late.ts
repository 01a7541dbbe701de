import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { Command } from 'commander';
import { ProfileStore } from '../../../core/profiles/profile-store.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import type { Service } from '../../../service/index.js';
import type { Call, CliContext } from '../../command.js';
import { formatColumns } from '../../command-line/help-layout.js';
import { addCommonOptions } from '../../command-line/options.js';
import { write, writeStyled } from '../../io.js';
import { declareAdmin } from '../admin/index.js';
import { declarePassback } from '../passback/index.js';
import { declareRead } from '../read/index.js';
import { demoApp, demoProfile, demoUser } from '../serve/demo.late.js';

const next = [
  ['userinfo serve --demo', 'a service to try, with a page of its requests'],
  ['userinfo profile add shop', 'your own platform: asks for what it needs'],
  ['userinfo doctor', 'checks each step between that profile and an answer'],
  ['userinfo sign solve -', 'refused? finds the rule of an accepted request'],
] as const;

type DemoCall = Pick<Call, 'context' | 'style'>;

/**
 * Runs the commands that create an app, a user and a code, and use them, against a service in
 * memory.
 */
export async function runDemo(call: DemoCall): Promise<void> {
  const { createService } = await import('../../../service/index.js');
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-demo-'));
  const service = await createService({ database: ':memory:' });
  try {
    await tour({ ...call, context: demoContext(call.context, service, folder) }, service.url);
    await write(call.context.io.stdout, `Nothing of this is kept. Next:\n${formatColumns(next)}`);
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Isolates the demo from the user's profiles, environment variables and database. */
function demoContext(context: CliContext, { admin }: Service, folder: string): CliContext {
  const { PATH, TERM, NO_COLOR, FORCE_COLOR } = context.io.env;
  const leaveOpen = async () => {}; // the service owns the store: a command must not close it
  return {
    ...context,
    io: { ...context.io, env: { PATH, TERM, NO_COLOR, FORCE_COLOR } },
    profiles: new ProfileStore(folder),
    openAdmin: async () => ({ ...admin, close: leaveOpen, [Symbol.asyncDispose]: leaveOpen }),
  };
}

async function tour(call: DemoCall, url: string): Promise<void> {
  const type = (line: string, stdin?: string) => typeCommand(call, line.split(' '), stdin);
  const { tenantCode, channel } = demoApp;
  const { union_id } = demoUser;
  await type(
    `admin app create --tenant-code ${tenantCode} --channel ${channel} --profile ${demoProfile} --base-url ${url}`,
  );
  await type('admin user put', JSON.stringify(demoUser));
  await type(`passback acme_level=gold age:=28 name=张三/李四 --union-id ${union_id}`);
  const issue = `admin code issue --tenant-code ${tenantCode} --union-id ${union_id}`;
  await type(`read ${await type(issue)}`);
  await type(`read ${await type(issue)} mobile,acme_level device_info location_info`);
}

/** Prints a command as a user would type it, runs it as `userinfo` would, and returns its data. */
async function typeCommand(
  { context, style }: DemoCall,
  args: readonly string[],
  stdin?: string,
): Promise<string> {
  const { io } = context;
  const command = ['userinfo', ...args].map(quoteWhereNeeded).join(' ');
  const typed = stdin === undefined ? command : `echo ${quoteWhereNeeded(stdin)} | ${command}`;
  await writeStyled(io.stdout, `${style.colors.cyan(`$ ${typed}`)}\n`);
  const { isTTY, columns } = io.stdout as NodeJS.WriteStream;
  const stdout = Object.assign(new PassThrough(), { isTTY, columns });
  let printed = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    io.stdout.write(text);
  });
  const inner = {
    ...io,
    stdin: Readable.from([Buffer.from(stdin ?? '')]),
    stdout,
    stderr: io.stdout,
  };
  const program = addCommonOptions(new Command('userinfo'));
  for (const declare of [declareAdmin, declarePassback, declareRead])
    declare(program, { ...context, io: inner });
  await program.parseAsync(args, { from: 'user' });
  await write(io.stdout, '\n');
  return printed.trim();
}
