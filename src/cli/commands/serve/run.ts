import { once } from 'node:events';
import type { Writable } from 'node:stream';
import manifest from '../../../../package.json' with { type: 'json' };
import { formatPlatform } from '../../../platform/platform.js';
import { isLoopback, urlHost } from '../../../protocol/base-url.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import type { Log, ServiceOptions } from '../../../service/index.js';
import { readPlatform } from '../../call/deployment.js';
import { parseSwitch } from '../../command-line/option-values.js';
import type { CliContext } from '../../context.js';
import { type Io, printMessage } from '../../io.js';
import {
  adminTokens,
  chooseDatabase,
  databaseFlag,
  masterKeys,
  mayMigrate,
  namedDatabase,
} from '../../service/database.js';
import { endWhenUnhandled } from '../../service/log.js';
import { type ServeOptions, serviceSettings } from './options.js';

const maxSeed = 1_000_000;

/** Time that a stop allows for requests still arriving on idle connections, in milliseconds. */
const drainMs = 1000;

/** Maximum amount of log that may wait for a slow reader, in characters. */
const maxUnreadLog = 1_048_576;

/** Serves until the signal aborts. */
export async function runServe(context: CliContext, given: ServeOptions): Promise<void> {
  const database = namedDatabase(given.database, context.io.env);
  const { page = pageOf(context.io.env), migrate } = given;
  const options = {
    ...given,
    migrate: migrate && mayMigrate(context.io.env),
    ...(database !== undefined && { database }),
    ...(page !== undefined && { page }),
  };
  refuseUnfit(options);
  const { io } = context;
  const { createLog, createService, StartError } = await import('../../../service/index.js');
  const log = droppingLog(
    createLog({
      format: options.logFormat,
      level: options.logLevel,
      write: (line) => io.stderr.write(`${line}\n`),
      now: Date.now,
    }),
    io.stderr,
  );
  const tokens = await adminTokens(io.env);
  if (tokens.length > 0 && options.adminPort === undefined) {
    throw new InvalidInputError('USERINFO_ADMIN_TOKEN is for the admin port', {
      hint: 'Add --admin-port <number>.',
    });
  }
  const platform = options.platform ? await readPlatform(context, options.platform) : null;
  const demo = options.demo ? await import('./demo.late.js') : null;
  await demo?.checkDemoProfile(context);
  const service = await createService({
    ...settingsOf(options),
    adminTokens: tokens,
    ...(platform && { platform: formatPlatform(platform) }),
    database: await chooseDatabase(options.database, options.migrate),
    create: options.migrate,
    upgrade: options.migrate,
    masterKeys: await masterKeys(io.env),
    log,
  }).catch((error: unknown) => {
    throw error instanceof StartError && error.code === 'OLD_SCHEMA'
      ? new StartError(error.message, {
          code: error.code,
          hint: 'Update it:',
          commands: [`userinfo migrate${databaseFlag(given.database)}`],
        })
      : error;
  });
  const { countEvents } = await import('../../../service/metrics.js');
  const report = countEvents(log, manifest.version);
  endWhenUnhandled((problem) => report({ event: 'fault', problem }), service.close);
  context.signal.addEventListener('terminate', (event) => {
    event.preventDefault();
    void service.close();
  });
  try {
    const lines = (await demo?.prepareDemo(context, service, options)) ?? [];
    // JSON logs are read by programs, which need no introduction.
    if (options.logFormat === 'pretty') for (const line of lines) await printMessage(context.io, line);
    if (!context.signal.aborted) await once(context.signal, 'abort');
  } finally {
    await service.close();
  }
}

/**
 * A log that neither stops the service nor exhausts its memory, whatever its reader does. A closed stream is
 * ignored. Events beyond the limit for a slow reader are dropped, and their number is logged later.
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

/** Whether the variables of `--page` and `--no-page` show the page; `undefined` if they do not say it. */
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
    throw new InvalidInputError(`--demo only works on this machine, not on ${JSON.stringify(host)}`, {
      hint: 'Leave --host out.',
    });
  }
}

/** Settings that were not given are undefined: the service uses its defaults. */
function settingsOf(options: ServeOptions): ServiceOptions {
  const { fault, faultSeed = Math.floor(Math.random() * maxSeed) } = options;
  return {
    ...Object.fromEntries(serviceSettings.map((name) => [name, options[name]])),
    drainMs,
    drainDelayMs: options.drainDelay,
    keepAliveMs: options.keepAlive,
    requestTimeoutMs: options.requestTimeout,
    maxBodyBytes: options.maxBody,
    version: manifest.version,
    // A random seed is logged at the start, so that the same faults can be reproduced.
    faults: fault && { ...fault, seed: faultSeed },
  } as ServiceOptions;
}
