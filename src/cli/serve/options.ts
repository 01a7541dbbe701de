import type { FaultSettings } from '../../service/index.js';
import type { CommonOptions } from '../options.js';

/** What `userinfo serve` is given. */
export interface ServeOptions extends CommonOptions {
  readonly host: string;
  readonly port: number;
  readonly database?: string;
  readonly poolSize?: number;
  readonly workers: number;
  /** Requests a second. */
  readonly rateLimit?: number;
  /** Milliseconds. */
  readonly clockWindow: number;
  readonly logFormat: 'pretty' | 'json';
  readonly fault?: Omit<FaultSettings, 'seed'>;
  readonly faultSeed?: number;
  readonly page?: boolean;
  readonly demo?: boolean;
}
