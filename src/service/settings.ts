// Apart from service.ts: options are checked before fastify is loaded.
import { InvalidInputError } from '../protocol/errors.js';
import { maxClockWindowSeconds } from '../protocol/limits.js';
import type { FaultSettings } from './faults.js';
import type { Log } from './log.js';

/** Settings of a service. Everything has a default. */
export interface ServiceSettings {
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, selects a free one. */
  readonly port?: number;
  /**
   * Maximum difference of a request's `timestamp`, in either direction (§5.6), in seconds, at most 900. Default:
   * 300.
   */
  readonly clockWindowSeconds?: number;
  /**
   * Maximum number of requests per second of each app, and of refused, unauthenticated requests per second of each
   * client address; further ones are answered with 42901. Default: no limit.
   */
  readonly rateLimit?: number;
  /** Maximum size of a body, in bytes. Default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Maximum time for a request to arrive, in milliseconds. Default: 30 000. */
  readonly requestTimeoutMs?: number;
  /** Faults to inject. Default: none. */
  readonly faults?: FaultSettings;
  /** Maximum number of open connections; further ones are closed. Default: 1000. */
  readonly maxConnections?: number;
  /**
   * Whether `GET /` shows the last requests, with secrets and personal data masked, to anyone. Default: only if
   * the service listens on a loopback address.
   */
  readonly page?: boolean;
  /**
   * How long `close` keeps idle connections open, in milliseconds. Requests on them are answered with `Connection:
   * close`. Default: 0.
   */
  readonly drainMs?: number;
  /** Receives the events of the service: see `createLog`. Default: none. */
  readonly log?: Log;
}

/** The clocks and the randomness of a service. */
export interface ServiceHost {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly steadyNow: () => number;
  /** Bytes from a cryptographic source. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/** @throws InvalidInputError for an invalid setting */
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
