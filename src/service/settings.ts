import { InvalidInputError } from '../protocol/errors.js';
import { maxClockWindowSeconds } from '../protocol/limits.js';
import type { FaultSettings } from './faults.js';
import type { Log } from './log.js';

/** How a service behaves. Everything has a default. */
export interface ServiceSettings {
  /** The address to listen on; 127.0.0.1 unless given. */
  readonly host?: string;
  /** 0, the default, picks a free one. */
  readonly port?: number;
  /** How far the `timestamp` of a request may be off, either way (§5.6), in seconds, 900 at most; 300 unless given. */
  readonly clockWindowSeconds?: number;
  /**
   * Requests a second of each app, and of each client address requests a second that are refused before they are known
   * to be an app's; past them 42901 is answered. No limit unless given.
   */
  readonly rateLimit?: number;
  /** The largest body that is taken, in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number;
  /** How long a request may take to arrive, in milliseconds; 30 000 unless given. */
  readonly requestTimeoutMs?: number;
  /** What goes wrong on purpose; nothing unless given. */
  readonly faults?: FaultSettings;
  /** How many connections may be open at once; 1000 unless given. What comes past them is closed. */
  readonly maxConnections?: number;
  /**
   * Whether `GET /` shows the last requests, secrets and personal data masked, to whoever asks; unless given, only
   * where the service listens for this machine alone.
   */
  readonly page?: boolean;
  /**
   * How long `close` keeps connections open on which nothing is asked, in milliseconds; 0 unless given. What comes on
   * them meanwhile is answered, with `Connection: close`.
   */
  readonly drainMs?: number;
  /** Where the service tells what happens: see `createLog`. Nowhere unless given. */
  readonly log?: Log;
}

/** What a service takes from the machine. */
export interface ServiceHost {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that only go forward. */
  readonly steadyNow: () => number;
  /** Bytes from a cryptographic source. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/** Throws an InvalidInputError for a setting that makes no sense. */
export function checkSettings(settings: ServiceSettings): void {
  const {
    port = 0,
    clockWindowSeconds = 0,
    maxBodyBytes = 1,
    requestTimeoutMs = 1,
    maxConnections = 1,
    rateLimit = 1,
    drainMs = 0,
  } = settings;
  const isCount = (value: number, least: number) => Number.isSafeInteger(value) && value >= least;
  const faults = [
    isCount(port, 0) && port <= 65_535 ? null : `port ${port} is not between 0 and 65535`,
    isCount(clockWindowSeconds, 0) && clockWindowSeconds <= maxClockWindowSeconds
      ? null
      : `a clock window of ${clockWindowSeconds} seconds is not between 0 and ${maxClockWindowSeconds}`,
    isCount(maxBodyBytes, 1) ? null : `a body limit of ${maxBodyBytes} bytes is not possible`,
    isCount(requestTimeoutMs, 1) ? null : `a request time-out of ${requestTimeoutMs} ms is not possible`,
    isCount(maxConnections, 1) ? null : `a limit of ${maxConnections} connections is not possible`,
    isCount(drainMs, 0) ? null : `draining for ${drainMs} ms is not possible`,
    rateLimit > 0 && Number.isFinite(rateLimit) ? null : `a rate limit of ${rateLimit}/s is not possible`,
  ];
  const fault = faults.find((found) => found !== null);
  if (fault !== undefined) throw new InvalidInputError(fault);
}
