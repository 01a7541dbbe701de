import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { defaultClockWindowSeconds } from '../../../protocol/limits.js';
import { addCommand, type Call } from '../../command.js';
import type { CliContext } from '../../context.js';
import { databaseOption } from '../../database.js';
import { parseCount, parseDuration, parseRate } from '../../options.js';
import { defaultHost, defaultPort, parseFaults, type ServeOptions } from './options.js';
import { runServe } from './run.js';

export function declareServe(program: Command, context: CliContext): void {
  addCommand(program, context, {
    name: 'serve',
    common: [],
    summary: 'run the service locally, for tests',
    description:
      'Run the service of the platform: both operations, over a database of its own. ' +
      'The log goes to stderr. Ctrl-C, SIGTERM or SIGHUP stops it after the requests in flight are answered.',
    examples: [
      ['userinfo serve --demo', 'with an app, users and a profile to try'],
      ['userinfo serve', 'on port 8787, with the database in the data folder'],
      ['userinfo serve --port 0 --database f.db --rate-limit 100/s', 'on a free port, throttling'],
      [
        'userinfo serve --port 0 --database f.db --fault latency=200ms..2s,error=5%,drop-after-commit=1%',
        'with injected faults; also reset=1%, skew=400s',
      ],
      [
        'PGPASSWORD=... userinfo serve --database postgres://userinfo@db.example/userinfo --workers auto',
        'on PostgreSQL, with one process per core',
      ],
    ],
    takes: addServeOptions,
    run: ({ options }: Call<ServeOptions>) => runServe(context, options),
  });
}

function addServeOptions(command: Command): Command {
  return command
    .option('--host <address>', 'address to listen on', defaultHost)
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 picks a free one')
        .default(defaultPort)
        .argParser(parsePort),
    )
    .addOption(databaseOption())
    .addOption(
      new Option(
        '--pool-size <n>',
        'maximum number of connections to PostgreSQL per worker (default: 10)',
      ).argParser((text) => parseCount(text, 'connections')),
    )
    .addOption(
      new Option('--workers <n>', 'number of processes, on PostgreSQL; auto: one per core')
        .default(1)
        .argParser(parseWorkers),
    )
    .addOption(
      new Option(
        '--rate-limit <n/s>',
        'answer 42901 above this rate of requests of an app, or of refused requests of an address',
      ).argParser(parseRate),
    )
    .addOption(
      new Option('--clock-window <duration>', 'maximum deviation of a timestamp, up to 15m')
        .default(defaultClockWindowSeconds * 1000, `${defaultClockWindowSeconds}s`)
        .argParser(parseDuration),
    )
    .addOption(
      new Option('--log-format <format>', 'log format').choices(['pretty', 'json']).default('pretty'),
    )
    .addOption(
      new Option('--log-level <level>', 'least important events that are logged')
        .choices(['info', 'warn', 'error'])
        .default('info'),
    )
    .addOption(
      new Option(
        '--admin-port <number>',
        'port for /livez, /readyz and /metrics (default: that of the service, to this machine alone)',
      ).argParser(parsePort),
    )
    .addOption(
      new Option(
        '--drain-delay <duration>',
        'time between the end of readiness and the end of the service (default: none)',
      ).argParser(parseDuration),
    )
    .addOption(
      new Option(
        '--trust-proxy <list>',
        'addresses of proxies whose X-Forwarded-For is believed, as 10.0.0.0/8,fd00::/8',
      ).argParser((text) => text.split(',')),
    )
    .addOption(new Option('--fault <list>', 'inject faults').argParser(parseFaults))
    .addOption(
      new Option('--fault-seed <n>', 'seed, to reproduce injected faults').argParser((text) =>
        parseCount(text, 'faults'),
      ),
    )
    .option('--page', 'show the last requests at / (default: if --host is this machine)')
    .option('--no-page', 'do not show them')
    .option('--demo', 'create an app, users and a profile "demo", and print commands to try');
}

function parseWorkers(text: string): number {
  return text === 'auto' ? availableParallelism() : parseCount(text, 'workers');
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidInputError(`${JSON.stringify(text)} is not a port`, {
    hint: 'Give a number from 0 to 65535.',
  });
}
