import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { Command } from 'commander';
import { ProfileStore } from '../../../profiles/profile-store.js';
import type { Service } from '../../../service/index.js';
import { quoteWhereNeeded } from '../../../support/shell.js';
import { addCommonOptions } from '../../command-line/options.js';
import type { CliContext } from '../../context.js';
import { type Io, write, writeStyled } from '../../io.js';
import { declareAdmin } from '../admin/index.js';
import { declarePassback } from '../passback.js';
import { declareRead } from '../read.js';
import { demoApp, demoProfile, demoUser } from '../serve/demo.late.js';

/** Colours a command. */
type Paint = (command: string) => string;

/** Runs the commands that create an app, a user and a code, and use them, against a service in memory. */
export async function runDemo(context: CliContext, paint: Paint): Promise<void> {
  const { io } = context;
  const { createService } = await import('../../../service/index.js');
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-demo-'));
  const service = await createService({ database: ':memory:' });
  try {
    await tour(demoContext(context, service, folder), paint, service.url);
    await writeNext(io, paint);
  } finally {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const steps = [
  ['userinfo serve --demo', 'a service to try, with a page of its requests'],
  ['userinfo profile add shop', 'your own platform: asks for what it needs'],
  ['userinfo doctor', 'checks each step between that profile and an answer'],
  ['userinfo sign solve -', 'refused? finds the rule of an accepted request'],
] as const;

/** Commands to try next, one on each line. */
async function writeNext(io: Io, paint: Paint): Promise<void> {
  const width = Math.max(...steps.map(([command]) => command.length));
  const lines = steps.map(([command, purpose]) => `  ${paint(command.padEnd(width))}  ${purpose}\n`);
  await writeStyled(io.stdout, `Nothing of this is kept. Next:\n${lines.join('')}`);
}

/** Isolates the demo from the user's profiles, environment variables and database. */
function demoContext(context: CliContext, service: Service, folder: string): CliContext {
  const { PATH, TERM, NO_COLOR, FORCE_COLOR } = context.io.env;
  return {
    ...context,
    io: { ...context.io, env: { PATH, TERM, NO_COLOR, FORCE_COLOR } },
    profiles: new ProfileStore(folder),
    openAdmin: async () => ({ ...service.admin, close: leaveOpen, [Symbol.asyncDispose]: leaveOpen }),
  };
}

/** The service owns the store: a command must not close it. */
async function leaveOpen(): Promise<void> {}

async function tour(context: CliContext, paint: Paint, url: string): Promise<void> {
  const type = (line: string, stdin?: string) => typeCommand(context, paint, line.split(' '), stdin);
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
  context: CliContext,
  paint: Paint,
  args: readonly string[],
  stdin?: string,
): Promise<string> {
  const { io } = context;
  const command = ['userinfo', ...args].map(quoteWhereNeeded).join(' ');
  const typed = stdin === undefined ? command : `echo ${quoteWhereNeeded(stdin)} | ${command}`;
  await writeStyled(io.stdout, `${paint(`$ ${typed}`)}\n`);
  const printed = copyTo(io.stdout);
  const inner: Io = {
    ...io,
    stdin: Readable.from([Buffer.from(stdin ?? '')]),
    stdout: printed.stream,
    stderr: io.stdout,
  };
  const program = addCommonOptions(new Command('userinfo'));
  for (const declare of [declareAdmin, declarePassback, declareRead])
    declare(program, { ...context, io: inner });
  await program.parseAsync(args, { from: 'user' });
  await write(io.stdout, '\n');
  return printed.text().trim();
}

/** A stream that copies its input to `stdout` and keeps it. */
function copyTo(stdout: Writable): { stream: PassThrough; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    stdout.write(chunk);
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
