import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseBaseUrl } from '../../../protocol/base-url.js';
import { type Call, command } from '../../command.js';
import { parseCount, parseDuration, parseRate } from '../../command-line/option-values.js';
import { databaseOption } from '../../service/database.js';
import { logOptions } from '../../service/log.js';
import { defaultHost, defaultPort, parseFaults, parseSize, type ServeOptions } from './options.js';
import { runServe } from './run.js';

export const declareServe = command({
  name: 'serve',
  common: [],
  summary: 'run the service locally, for tests; --demo to try it',
  takes: addServeOptions,
  run: ({ context, options }: Call<ServeOptions>) => runServe(context, options),
});

/** The settings that the help of `serve` explains; "userinfo help operation" explains the others. */
const common = ['host', 'port', 'database', 'platform', 'logFormat', 'fault', 'faultSeed', 'page'];

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
    new Option('--host <address>', 'address to listen on').default(defaultHost).argParser(parseHost),
    new Option('--port <number>', 'port; 0 picks a free one').default(defaultPort).argParser(parsePort),
    new Option('--no-migrate', 'refuse an older schema; "userinfo migrate" updates it'),
    new Option('--pool-size <n>', 'PostgreSQL connections of each process (default: 10)').argParser(
      parseCount,
    ),
    new Option(
      '--rate-limit <n/s>',
      'answer 42901 above this rate of requests of an app, or of refused requests of an address',
    ).argParser(parseRate),
    new Option('--platform <file>', 'platform file: answer as that platform does'),
    ...logOptions(),
    new Option(
      '--admin-port <number>',
      'port for /livez, /readyz and /metrics (default: that of the service; metrics only for this machine)',
    ).argParser(parsePort),
    new Option('--drain-delay <duration>', 'keep serving for this long after SIGTERM (default: 0)').argParser(
      (text) => (text === '0' ? 0 : parseDuration(text)),
    ),
    new Option('--audit-days <n>', 'age at which a line of the audit is deleted (default: 365)').argParser(
      parseCount,
    ),
    new Option(
      '--trust-proxy <list>',
      'addresses of proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8,fd00::/8',
    ).argParser((text) => text.split(',').map((range) => range.trim())),
    new Option('--public-url <url>', 'base URL that clients sign, behind a proxy').argParser((text) =>
      parseBaseUrl(text, '--public-url'),
    ),
    new Option(
      '--max-connections <n>',
      'maximum number of open connections, a tenth of it for each client address (default: 1000)',
    ).argParser(parseCount),
    new Option(
      '--keep-alive <duration>',
      'keep idle connections for this long: longer than your balancer does (default: 5s)',
    ).argParser(parseDuration),
    new Option('--request-timeout <duration>', 'time for a request to arrive (default: 30s)').argParser(
      parseDuration,
    ),
    new Option('--max-body <size>', 'maximum size of a body (default: 64KiB)').argParser(parseSize),
    new Option('--fault <list>', 'inject faults').argParser(parseFaults),
    new Option('--fault-seed <n>', 'seed, to reproduce injected faults').argParser(parseCount),
    new Option('--page', 'show the last requests at / (default: only where --host is this machine)'),
    new Option('--no-page', 'do not show them'),
  ];
}

/** Lets a variable set an option with a value where no flag does, unless it is empty. PORT is what platforms set. */
function withVariable(option: Option): Option {
  const own = `USERINFO_${option.name().replaceAll('-', '_').toUpperCase()}`;
  const names = option.name() === 'port' ? [own, 'PORT'] : [own];
  const name = option.required ? names.find((one) => process.env[one]) : undefined;
  return name === undefined ? option : option.env(name);
}

/** Node.js takes an empty address for all addresses. */
function parseHost(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give an address, such as 127.0.0.1.');
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
}
