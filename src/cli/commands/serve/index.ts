import { once } from 'node:events';
import { exit } from 'node:process';
import type { Writable } from 'node:stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import manifest from '../../../../package.json' with { type: 'json' };
import { isLoopback, parseBaseUrl, urlHost } from '../../../core/contract/base-url.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { formatPlatform } from '../../../core/platform/platform.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { Log, Service, ServiceOptions } from '../../../service/index.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import {
  parseCount,
  parseDuration,
  parseFilled,
  parseRate,
  parseSwitch,
} from '../../command-line/options.js';
import { type Io, printAdvice } from '../../io.js';
import { readPlatform } from '../../request/deployment.js';
import {
  adminTokens,
  chooseStore,
  databaseFlag,
  databaseOption,
  mayMigrate,
  namedDatabase,
} from './database.js';
import {
  defaultHost,
  defaultPort,
  parseFaults,
  parseSize,
  type ServeOptions,
  serviceSettings,
} from './options.js';

export const declareServe = command({
  name: 'serve',
  common: [],
  summary: 'run the service locally, for tests; --demo to try it',
  help: () => import('./help.txt?raw'),
  takes: addServeOptions,
  action: ({ context, options }: Invocation<ServeOptions>) => runServe(context, options),
});

/**
 * The settings that the help of `serve` explains; "userinfo help operation" explains the others.
 */
const common = ['host', 'port', 'database', 'platform', 'logFormat', 'fault', 'page'];

/** Each setting is a flag, else a variable of the environment. */
export function addServeOptions(command: Command): Command {
  for (const option of settings()) {
    command.addOption(withVariable(option));
    if (!common.includes(option.attributeName())) option.helpGroup('Operation:');
  }
  return command
    .addOption(databaseOption())
    .option('--demo', 'create an app, users and a profile "demo", and print commands to try');
}

/** The settings of the service. */
function settings(): Option[] {
  return [
    // Node.js takes an empty address for all addresses.
    new Option('--host <address>', 'address to listen on')
      .default(defaultHost)
      .argParser(parseFilled('--host')),
    new Option('--port <number>', 'port; 0 picks a free one')
      .default(defaultPort)
      .argParser(parsePort),
    new Option('--no-migrate', 'refuse an older schema; "userinfo admin migrate" updates it'),
    new Option('--pool-size <n>', 'PostgreSQL connections of each process (default: 10)').argParser(
      parseCount,
    ),
    new Option(
      '--rate-limit <n/s>',
      'answer 42901 above this rate of requests of an app, or of refused requests of an address',
    ).argParser(parseRate),
    new Option('--platform <file>', 'platform file: answer as that platform does'),
    new Option('--log-format <format>', 'log format').choices(['pretty', 'json']).default('pretty'),
    new Option('--log-level <level>', 'least important events to log')
      .choices(['info', 'warn', 'error'])
      .default('info'),
    new Option(
      '--admin-port <number>',
      'port for /livez, /readyz and /metrics (default: that of the service; metrics only for this machine)',
    ).argParser(parsePort),
    new Option(
      '--drain-delay <duration>',
      'keep serving for this long after SIGTERM (default: 0)',
    ).argParser((text) => (text === '0' ? 0 : parseDuration(text))),
    new Option(
      '--audit-days <n>',
      'age at which a line of the audit is deleted (default: 365)',
    ).argParser(parseCount),
    new Option(
      '--trust-proxy <list>',
      'addresses of proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8,fd00::/8',
    ).argParser((text) => text.split(',').map((range) => range.trim())),
    new Option('--public-url <url>', 'base URL that clients sign, behind a proxy').argParser(
      (text) => parseBaseUrl(text, '--public-url'),
    ),
    new Option(
      '--max-connections <n>',
      'maximum number of open connections, a tenth of it for each client address (default: 1000)',
    ).argParser(parseCount),
    new Option(
      '--keep-alive <duration>',
      'keep idle connections for this long: longer than your balancer does (default: 5s)',
    ).argParser(parseDuration),
    new Option(
      '--request-timeout <duration>',
      'time for a request to arrive (default: 30s)',
    ).argParser(parseDuration),
    new Option('--max-body <size>', 'maximum size of a body (default: 64KiB)').argParser(parseSize),
    new Option('--fault <list>', 'inject faults').argParser(parseFaults),
    new Option(
      '--page',
      'show the last requests at / (default: only where --host is this machine)',
    ),
    new Option('--no-page', 'do not show them'),
  ];
}

/**
 * Lets a variable set an option with a value where no flag does, unless it is empty. PORT is what
 * platforms set.
 */
function withVariable(option: Option): Option {
  if (!option.required) return option;
  const names = [`USERINFO_${option.name().replaceAll('-', '_').toUpperCase()}`];
  if (option.name() === 'port') names.push('PORT');
  const variable = names.find((name) => process.env[name]);
  return variable === undefined ? option : option.env(variable);
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
}

const maxSeed = 1_000_000;

/** Time that a stop allows for requests still arriving on idle connections, in milliseconds. */
const drainMs = 1000;

/** Maximum amount of log that may wait for a slow reader, in characters. */
const maxUnreadLog = 1_048_576;

/** Serves until the signal aborts. */
async function runServe(context: CliContext, flags: ServeOptions): Promise<void> {
  const { io, signal } = context;
  const options = withVariables(flags, io.env);
  refuseUnfit(options);
  const { createLog } = await import('../../../service/index.js');
  const write = (line: string) => io.stderr.write(`${line}\n`);
  const { logFormat: format, logLevel: level } = options;
  const log = droppingLog(createLog({ format, level, write, now: Date.now }), io.stderr);
  const tokens = await adminTokens(io.env);
  if (tokens.length > 0 && options.adminPort === undefined) {
    throw new InvalidInputError('USERINFO_ADMIN_TOKEN is for the admin port', {
      hint: 'Add --admin-port <number>.',
    });
  }
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
  signal.addEventListener('terminate', (event) => {
    event.preventDefault();
    void service.close();
  });
  try {
    const introduction = (await demo?.prepareDemo(context, service, options)) ?? [];
    // JSON logs are read by programs, which need no introduction.
    if (format === 'pretty') for (const advice of introduction) await printAdvice(io, advice);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await service.close();
  }
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
function withVariables(flags: ServeOptions, env: Io['env']): ServeOptions {
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
