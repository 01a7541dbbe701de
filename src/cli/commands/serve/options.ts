import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseBaseUrl } from '../../../core/contract/base-url.js';
import { exclusiveFaults, type FaultSettings, sharesOf } from '../../../service/fault-settings.js';
import type { LogLevel, ServiceOptions } from '../../../service/index.js';
import { databaseOption } from '../../command-line/database.js';
import {
  type CommonOptions,
  parseCount,
  parseDuration,
  parseFilled,
  parseRate,
} from '../../command-line/options.js';

const defaultHost = '127.0.0.1';
const defaultPort = 8787;

/** The default address of the service. */
export const defaultUrl = `http://${defaultHost}:${defaultPort}`;

/** The faults of `--fault`; without a seed, the service draws one. */
type Faults = Omit<FaultSettings, 'seed'> & Partial<Pick<FaultSettings, 'seed'>>;

/** The options that are settings of the service as they are. */
export const serviceSettings = [
  'host',
  'port',
  'rateLimit',
  'poolSize',
  'page',
  'adminPort',
  'auditDays',
  'trustProxy',
  'publicUrl',
  'maxConnections',
] as const;

/** The options of `userinfo serve`. */
export interface ServeOptions
  extends CommonOptions,
    Pick<ServiceOptions, (typeof serviceSettings)[number]> {
  readonly host: string;
  readonly database?: string;
  /** False for --no-migrate. */
  readonly migrate: boolean;
  readonly platform?: string;
  readonly logFormat: 'pretty' | 'json';
  readonly logLevel: LogLevel;
  /** Milliseconds. */
  readonly drainDelay?: number;
  readonly keepAlive?: number;
  readonly requestTimeout?: number;
  /** Bytes. */
  readonly maxBody?: number;
  readonly fault?: Faults;
  readonly demo?: boolean;
}

/**
 * The settings that the help of `serve` explains; "userinfo help operation" explains the others.
 */
const everydaySettings = ['host', 'port', 'database', 'platform', 'logFormat', 'fault', 'page'];

/** Each setting is a flag, else a variable of the environment. */
export function addServeOptions(command: Command): Command {
  for (const option of settings()) {
    command.addOption(settableByVariable(option));
    if (!everydaySettings.includes(option.attributeName())) option.helpGroup('Operation:');
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
function settableByVariable(option: Option): Option {
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

type ParseFault = (text: string) => Faults;

/** The parsers of the faults of `--fault`, by name. */
const faultParsers = new Map<string, ParseFault>([
  ['latency', (text) => ({ latencyMs: parseSpan(text) })],
  ...Object.entries(exclusiveFaults).map(([field, name]): [string, ParseFault] => [
    name,
    (text) => ({ [field]: parseShare(text) }),
  ]),
  ['skew', (text) => ({ skewSeconds: parseSkew(text) })],
  ['seed', (text) => ({ seed: parseCount(text) })],
]);

/**
 * Parses the faults of `--fault`, such as
 * `latency=200ms..2s,error=5%,reset=1%,skew=400s,drop-after-commit=1%,seed=7`.
 */
export function parseFaults(text: string): Faults {
  let faults: Faults = {};
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=');
    const parse = faultParsers.get(name);
    if (parse === undefined || value === '') throw new InvalidArgumentError(faultsInWords);
    faults = { ...faults, ...parse(value) };
  }
  if (sharesOf(faults).reduce((sum, { share }) => sum + share, 0) <= 1) return faults;
  throw new InvalidArgumentError(
    `${Object.values(exclusiveFaults).join(', ')} add up to more than 100%.`,
  );
}

const faultsInWords =
  'The faults are latency=200ms..2s, skew=400s, and as shares of the requests ' +
  'error=5%, reset=1%, drop-after-commit=1%; seed=7 repeats them. ' +
  'To limit the rate, use --rate-limit.';

const sizeUnits = { '': 1, KiB: 1024, MiB: 1024 ** 2 } as const;

/** Parses a size such as `65536`, `512KiB` or `1MiB` into bytes. */
function parseSize(text: string): number {
  const [, number, unit] = /^([1-9]\d{0,8})(|KiB|MiB)$/.exec(text) ?? [];
  if (number !== undefined) return Number(number) * sizeUnits[unit as keyof typeof sizeUnits];
  throw new InvalidArgumentError('Write it as 65536, 512KiB or 1MiB.');
}

/** `5%`, as 0.05 */
function parseShare(text: string): number {
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  if (share <= 1) return share;
  throw new InvalidArgumentError('Write a percentage as 5%.');
}

/** `200ms..2s`, or one duration for every request. Milliseconds. */
function parseSpan(text: string): { min: number; max: number } {
  const [first = '', last = first] = text.split('..');
  const min = parseDuration(first);
  const max = parseDuration(last);
  if (min <= max) return { min, max };
  throw new InvalidArgumentError('Write a range as 200ms..2s.');
}

/** `400s` ahead, `-400s` behind */
function parseSkew(text: string): number {
  const seconds = parseDuration(text.replace(/^[+-]/, '')) / 1000;
  return text.startsWith('-') ? -seconds : seconds;
}
