import { InvalidArgumentError } from 'commander';
import { exclusiveFaults, type FaultSettings, sharesOf } from '../../../service/fault-settings.js';
import type { LogLevel, ServiceOptions } from '../../../service/index.js';
import { type CommonOptions, parseCount, parseDuration } from '../../command-line/options.js';

export const defaultHost = '127.0.0.1';
export const defaultPort = 8787;

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
 * Parses the faults of `--fault`, such as `latency=200ms..2s,error=5%,reset=1%,skew=400s,drop-after-commit=1%,seed=7`.
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
export function parseSize(text: string): number {
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
