import { InvalidInputError, quoteName } from '../core/contract/errors.js';

/**
 * Injected faults, to test a client. Shares are of all requests, 0 to 1.
 *
 * @example
 * const faults: FaultSettings = { error: 0.1, latencyMs: { min: 5, max: 50 }, seed: 1 };
 * const flaky = await createService({ faults });
 */
export interface FaultSettings {
  /**
   * Delay before a request is processed, in milliseconds.
   *
   * @default none
   */
  readonly latencyMs?: { readonly min: number; readonly max: number };
  /**
   * Share of requests that are answered with 50001 and not carried out.
   *
   * @default 0
   */
  readonly error?: number;
  /**
   * Share of requests whose connection is closed before they are processed.
   *
   * @default 0
   */
  readonly reset?: number;
  /**
   * Share of requests that are carried out, and whose connection is closed instead of an answer.
   *
   * @default 0
   */
  readonly dropAfterCommit?: number;
  /**
   * The lead of the service's clock, in seconds; negative if it is behind.
   *
   * @default 0
   */
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
/** One of them. */
export type ExclusiveFault = keyof typeof exclusiveFaults;
const exclusive = Object.keys(exclusiveFaults) as ExclusiveFault[];
const faultNames = ['latencyMs', ...exclusive, 'skewSeconds', 'seed'];

/** The shares of the faults of which a request has at most one; 0 for those not set. */
export function sharesOf(
  faults: Omit<FaultSettings, 'seed'>,
): { readonly fault: ExclusiveFault; readonly share: number }[] {
  return exclusive.map((fault) => ({ fault, share: faults[fault] ?? 0 }));
}

/** @throws InvalidInputError that says what is wrong */
export function checkFaults(faults: FaultSettings): void {
  const problem = problemOf(faults);
  if (problem !== null) throw new InvalidInputError(`the faults are invalid: ${problem}`);
}

function problemOf(faults: FaultSettings): string | null {
  const { latencyMs = { min: 0, max: 0 }, skewSeconds = 0, seed } = faults;
  const unknown = Object.keys(faults).find((name) => !faultNames.includes(name));
  if (unknown !== undefined) return `there is no fault ${quoteName(unknown)}`;
  const shares = sharesOf(faults).map(({ share }) => share);
  if (!shares.every(isShare)) return 'a share is a number from 0 to 1';
  const sum = shares.reduce((total, share) => total + share);
  if (sum > 1) return `${exclusive.join(', ')} add up to 1 at most`;
  if (!isRange(latencyMs)) return 'latencyMs has a min, and a max that is not below it';
  if (!Number.isFinite(skewSeconds)) return 'skewSeconds is a number';
  if (!Number.isSafeInteger(seed)) return 'seed is a whole number';
  return null;
}

function isShare(share: number): boolean {
  return Number.isFinite(share) && share >= 0 && share <= 1;
}

/** A latency of an untyped program may be anything. */
function isRange(latencyMs: FaultSettings['latencyMs'] | null): boolean {
  const { min = Number.NaN, max = Number.NaN } = latencyMs ?? {};
  return Number.isFinite(min) && Number.isFinite(max) && min >= 0 && min <= max;
}

/** Faults in the form of `--fault`. */
export function describeFaults(faults: FaultSettings): string {
  const { latencyMs, skewSeconds, seed } = faults;
  const parts: string[] = [];
  if (latencyMs) parts.push(`latency=${latencyMs.min}ms..${latencyMs.max}ms`);
  for (const { fault, share } of sharesOf(faults)) {
    if (share > 0) parts.push(`${exclusiveFaults[fault]}=${percent(share)}`);
  }
  if (skewSeconds) parts.push(`skew=${skewSeconds}s`);
  parts.push(`seed=${seed}`);
  return parts.join(',');
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}
