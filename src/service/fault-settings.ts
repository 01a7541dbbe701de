import { InvalidInputError, quoteName } from '../core/contract/errors.js';

/**
 * Injected faults, to test a client. Shares are of all requests, 0 to 1.
 *
 * @example
 * const faults: FaultSettings = { error: 0.1, latencyMs: { min: 5, max: 50 }, seed: 1 };
 * const flaky = await createService({ faults });
 */
export interface FaultSettings {
  /** Delay before a request is processed, in milliseconds. */
  readonly latencyMs?: { readonly min: number; readonly max: number };
  /** Share of requests that are answered with 50001 and not carried out. */
  readonly error?: number;
  /** Share of requests whose connection is closed before they are processed. */
  readonly reset?: number;
  /**
   * Share of requests that are carried out, and whose connection is closed instead of an answer.
   */
  readonly dropAfterCommit?: number;
  /** The lead of the service's clock, in seconds; negative if it is behind. */
  readonly skewSeconds?: number;
  /** A whole number: the same seed gives the same faults in the same order. */
  readonly seed: number;
}

/** The faults of which a request has at most one, as `--fault` names them. */
export const exclusiveFaults = {
  error: 'error',
  reset: 'reset',
  dropAfterCommit: 'drop-after-commit',
} as const;
const exclusive = Object.keys(exclusiveFaults) as (keyof typeof exclusiveFaults)[];
const faultNames = ['latencyMs', ...exclusive, 'skewSeconds', 'seed'];

/** The shares of the faults of which a request has at most one; 0 for those not set. */
export function sharesOf(
  faults: Omit<FaultSettings, 'seed'>,
): (readonly [fault: keyof typeof exclusiveFaults, share: number])[] {
  return exclusive.map((fault) => [fault, faults[fault] ?? 0]);
}

/** @throws InvalidInputError that says what is wrong */
export function checkFaults(faults: FaultSettings): void {
  const { latencyMs = { min: 0, max: 0 }, skewSeconds = 0 } = faults;
  const shares = sharesOf(faults).map(([, share]) => share);
  const unknown = Object.keys(faults).find((name) => !faultNames.includes(name));
  const wrong = [
    unknown === undefined || `there is no fault ${quoteName(unknown)}`,
    shares.every((share) => Number.isFinite(share) && share >= 0 && share <= 1) ||
      'a share is a number from 0 to 1',
    shares.reduce((sum, share) => sum + share) <= 1 ||
      `${exclusive.join(', ')} add up to 1 at most`,
    ([latencyMs?.min, latencyMs?.max].every(Number.isFinite) &&
      latencyMs.min >= 0 &&
      latencyMs.min <= latencyMs.max) ||
      'latencyMs has a min, and a max that is not below it',
    Number.isFinite(skewSeconds) || 'skewSeconds is a number',
    Number.isSafeInteger(faults.seed) || 'seed is a whole number',
  ].find((rule) => rule !== true);
  if (wrong !== undefined) throw new InvalidInputError(`the faults are invalid: ${wrong}`);
}

/** Faults in the form of `--fault`. */
export function describeFaults(faults: FaultSettings): string {
  const { latencyMs, skewSeconds, seed } = faults;
  const parts = [
    latencyMs && `latency=${latencyMs.min}ms..${latencyMs.max}ms`,
    ...sharesOf(faults).map(
      ([fault, share]) => share && `${exclusiveFaults[fault]}=${percent(share)}`,
    ),
    skewSeconds && `skew=${skewSeconds}s`,
  ].filter(Boolean);
  return [...parts, `seed=${seed}`].join(',');
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}
