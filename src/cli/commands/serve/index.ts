import { once } from 'node:events';
import { exit } from 'node:process';
import type { Writable } from 'node:stream';
import manifest from '../../../../package.json' with { type: 'json' };
import { isLoopback, urlHost } from '../../../core/contract/base-url.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { formatPlatform } from '../../../core/platform/platform.js';
import type { Secret } from '../../../core/signing/secret.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { Log, Service, ServiceOptions } from '../../../service/index.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import {
  chooseStore,
  databaseFlag,
  mayMigrate,
  namedDatabase,
} from '../../command-line/database.js';
import { parseSwitch } from '../../command-line/options.js';
import { type Io, printAdvice } from '../../io.js';
import { readPlatform } from '../../request/deployment.js';
import { adminTokens } from '../../service-secrets.js';
import { addServeOptions, type ServeOptions, serviceSettings } from './options.js';

export const declareServe = command({
  name: 'serve',
  common: [],
  summary: 'run the service locally, for tests; --demo to try it',
  help: () => import('./help.txt?raw'),
  takes: addServeOptions,
  action: ({ context, options }: Invocation<ServeOptions>) => runServe(context, options),
});

const maxSeed = 1_000_000;

/** Time that a stop allows for requests still arriving on idle connections, in milliseconds. */
const drainMs = 1000;

/** Maximum amount of log that may wait for a slow reader, in characters. */
const maxUnreadLog = 1_048_576;

/** Serves until the signal aborts. */
async function runServe(context: CliContext, flags: ServeOptions): Promise<void> {
  const { io, signal } = context;
  const options = resolveOptions(flags, io.env);
  refuseUnfit(options);
  const log = await openLog(options, io.stderr);
  const tokens = await adminTokens(io.env);
  requireAdminPort(tokens, options);
  const platform = options.platform ? await readPlatform(context, options.platform) : undefined;
  const demo = options.demo ? await import('./demo.late.js') : undefined;
  await demo?.checkDemoProfile(context);
  const service = await startService(
    withoutUndefined({
      ...settingsOf(options),
      adminTokens: tokens,
      platform: platform && formatPlatform(platform),
      ...(await chooseStore(options.database, io.env, options.migrate)),
      create: options.migrate,
      upgrade: options.migrate,
      log,
    }),
    flags.database,
  );
  const { countEvents } = await import('../../../service/metrics.js');
  const report = countEvents(log, manifest.version);
  endWhenUnhandled((problem) => report({ event: 'fault', problem }), service.close);
  closeOnTerminate(service, signal);
  try {
    const introduction = (await demo?.prepareDemo(context, service, options)) ?? [];
    // JSON logs are read by programs, which need no introduction.
    if (options.logFormat === 'pretty')
      for (const advice of introduction) await printAdvice(io, advice);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await service.close();
  }
}

/** A second SIGTERM ends the wait of `--drain-delay`. */
function closeOnTerminate(service: Service, signal: AbortSignal): void {
  signal.addEventListener('terminate', (event) => {
    event.preventDefault();
    void service.close();
  });
}

async function openLog(options: ServeOptions, stderr: Writable): Promise<Log> {
  const { createLog } = await import('../../../service/index.js');
  const write = (line: string) => stderr.write(`${line}\n`);
  const { logFormat: format, logLevel: level } = options;
  return droppingLog(createLog({ format, level, write, now: Date.now }), stderr);
}

/** @throws InvalidInputError if there are tokens and nothing that takes them */
function requireAdminPort(tokens: readonly Secret[], { adminPort }: ServeOptions): void {
  if (tokens.length === 0 || adminPort !== undefined) return;
  throw new InvalidInputError('USERINFO_ADMIN_TOKEN is for the admin port', {
    hint: 'Add --admin-port <number>.',
  });
}

/**
 * An error that nobody handles ends the program with status 1, as in Node.js, but after `report`
 * has received its stack and `close` has ended.
 */
function endWhenUnhandled(report: (problem: string) => void, close: () => Promise<void>): void {
  process.once('uncaughtException', (error) => {
    report(error instanceof Error ? (error.stack ?? error.message) : String(error));
    void close().finally(() => exit(1));
  });
}

/** The options of the command line, with those that variables set. */
function resolveOptions(flags: ServeOptions, env: Io['env']): ServeOptions {
  const { page = pageOf(env), migrate } = flags;
  return withoutUndefined({
    ...flags,
    database: namedDatabase(flags.database, env),
    page,
    migrate: migrate && mayMigrate(env),
  });
}

/**
 * Starts the service; `database` is that of `--database`.
 *
 * @throws StartError with the command that updates an older schema
 */
async function startService(
  options: ServiceOptions,
  database: string | undefined,
): Promise<Service> {
  const { createService, StartError } = await import('../../../service/index.js');
  try {
    return await createService(options);
  } catch (error) {
    if (!(error instanceof StartError) || error.code !== 'OLD_SCHEMA') throw error;
    throw new StartError(error.message, {
      code: error.code,
      hint: 'Update it:',
      commands: [`userinfo admin migrate${databaseFlag(database)}`],
    });
  }
}

/**
 * A log that neither stops the service nor exhausts its memory, whatever its reader does. A closed
 * stream is ignored. Events beyond the limit for a slow reader are dropped, and their number is
 * logged later.
 */
function droppingLog(log: Log, stream: Writable): Log {
  let dropped = 0;
  stream.removeAllListeners('error').on('error', () => {});
  stream.on('drain', () => {
    if (dropped === 0) return;
    const events = dropped;
    dropped = 0;
    log({ event: 'log_dropped', events });
  });
  return (event) => {
    if (stream.writableLength > maxUnreadLog) dropped += 1;
    else log(event);
  };
}

/**
 * Whether the variables of `--page` and `--no-page` show the page; `undefined` if they do not say
 * it.
 */
function pageOf({ USERINFO_PAGE = '', USERINFO_NO_PAGE = '' }: Io['env']): boolean | undefined {
  if (parseSwitch(USERINFO_NO_PAGE, 'USERINFO_NO_PAGE')) return false;
  return parseSwitch(USERINFO_PAGE, 'USERINFO_PAGE') || undefined;
}

/** @throws InvalidInputError for options that exclude each other */
function refuseUnfit({ host, port, adminPort, demo }: ServeOptions): void {
  if (adminPort === port && port !== 0) {
    throw new InvalidInputError(`--port and --admin-port are both ${port}`, {
      hint: 'Give them different ports, or leave --admin-port out.',
    });
  }
  if (demo && !isLoopback(urlHost(host))) {
    const address = JSON.stringify(host);
    throw new InvalidInputError(`--demo only works on this machine, not on ${address}`, {
      hint: 'Leave --host out.',
    });
  }
}

/** Settings that were not given are undefined: the service uses its defaults. */
function settingsOf(options: ServeOptions): ServiceOptions {
  const { fault } = options;
  return {
    ...Object.fromEntries(serviceSettings.map((name) => [name, options[name]])),
    drainMs,
    drainDelayMs: options.drainDelay,
    keepAliveMs: options.keepAlive,
    requestTimeoutMs: options.requestTimeout,
    maxBodyBytes: options.maxBody,
    version: manifest.version,
    // The seed is logged at the start, so that the same faults can be reproduced.
    faults: fault && { seed: Math.floor(Math.random() * maxSeed), ...fault },
  } as ServiceOptions;
}
