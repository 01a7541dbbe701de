import { timingSafeEqual } from 'node:crypto';
import { checkSignatureLength, parameterText } from '../../core/contract/parameters.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import {
  compileRecipes,
  expectedSignatures,
  type SignatureName,
  type SignaturePair,
  type Signers,
  signatureNames,
} from '../../core/signing/app-signatures.js';
import { parseSigningRecipes } from '../../core/signing/recipe-json.js';
import type { CheckedSettings } from '../settings.js';
import type { App } from '../store/apps.js';
import type { ReceivedRequest } from './received-request.js';
import { RefusedError } from './refusal.js';

/** Maximum number of compiled recipes in memory; apps share them. */
const maxCached = 100;

const compiled = new Map<string, Signers>();

/**
 * The signers of an app's recipes, given as JSON text and compiled once; `null` stands for `usual`.
 */
function signersOf(recipes: string | null, usual: Signers): Signers {
  if (recipes === null) return usual;
  const cached = compiled.get(recipes);
  if (cached !== undefined) return cached;
  const signers = compileRecipes(parseSigningRecipes(JSON.parse(recipes)));
  if (compiled.size >= maxCached) compiled.clear();
  compiled.set(recipes, signers);
  return signers;
}

/**
 * Authenticates a request (§5). The checks are in the order 40002 (length of `sign`), 40101, 40301,
 * 40104, 40102, 40103. `app` is the one that the request names, or `null`; `now` is in seconds.
 *
 * @throws InvalidInputError for 40002
 * @throws RefusedError for the other codes
 */
export function authenticate(
  request: ReceivedRequest,
  app: App | null,
  now: number,
  { platform, signers: usual }: Pick<CheckedSettings, 'platform' | 'signers'>,
): App {
  const text = (name: string) => parameterText(request.parameters, name);
  const signers = signersOf(app?.recipes ?? null, usual);
  checkSignatureLength('sign', text('sign'), signers.sign.digestLength);
  if (app === null) throw new RefusedError(resultCode.unknownAppKey);
  if (app.disabled)
    throw new RefusedError(resultCode.appNotAllowed, { msg: 'the app is disabled' });
  if (app.tenant_code !== text('tenant_code') || app.channel !== text('channel')) {
    throw new RefusedError(resultCode.appNotAllowed);
  }
  const secondsLate = now - Number(text('timestamp'));
  if (!isInWindow(secondsLate, platform)) {
    throw new RefusedError(resultCode.timestampOutsideWindow);
  }
  const isRight = (signature: SignatureName, signatures: SignaturePair) =>
    isSame(text(signature), signatures[signature].digest);
  const expected = expectedSignatures(signers, request.signable, app.app_secret);
  if (app.old_secret !== null && performance.now() < app.old_ends) {
    // One secret makes both signatures: the old one, or else the current one.
    const old = expectedSignatures(signers, request.signable, app.old_secret);
    if (isRight('app_sign', old) && isRight('sign', old)) return app;
  }
  for (const signature of signatureNames) {
    if (isRight(signature, expected)) continue;
    throw new RefusedError(wrongSignature[signature], {
      rejected: { signature, request, app, signers, expected },
    });
  }
  return app;
}

const wrongSignature = {
  app_sign: resultCode.wrongAppSign,
  sign: resultCode.wrongSign,
} as const;

/** Whether a timestamp is accepted; one of a clock that is ahead is negative. */
function isInWindow(
  secondsLate: number,
  { clock_window_seconds, clock_ahead_seconds }: Platform,
): boolean {
  const isAhead = secondsLate < 0;
  const window =
    isAhead && clock_ahead_seconds !== 'same' ? clock_ahead_seconds : clock_window_seconds;
  return window === 'unlimited' || Math.abs(secondsLate) <= window;
}

function isSame(received: string, expected: string): boolean {
  const receivedBytes = Buffer.from(received);
  const expectedBytes = Buffer.from(expected);
  if (receivedBytes.length !== expectedBytes.length) return false;
  return timingSafeEqual(receivedBytes, expectedBytes);
}
