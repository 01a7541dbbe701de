import { timingSafeEqual } from 'node:crypto';
import { checkSignatureLength, parameterText } from '../../core/contract/parameters.js';
import { resultCode } from '../../core/contract/result-codes.js';
import {
  compileRecipes,
  expectedSignatures,
  type Signers,
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
  const known = compiled.get(recipes);
  if (known !== undefined) return known;
  const signers = compileRecipes(parseSigningRecipes(JSON.parse(recipes)));
  if (compiled.size >= maxCached) compiled.clear();
  compiled.set(recipes, signers);
  return signers;
}

/**
 * Authenticates a request (§5). The checks are in the order 40002 (length of `sign`), 40101, 40301,
 * 40104, 40102,
 * 40103. `app` is the one that the request names, or `null`; `now` is in seconds.
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
  const late = now - Number(text('timestamp'));
  const { clock_window_seconds: old, clock_ahead_seconds: ahead } = platform;
  const window = late > 0 || ahead === 'same' ? old : ahead;
  if (window !== 'unlimited' && Math.abs(late) > window) {
    throw new RefusedError(resultCode.timestampOutsideWindow);
  }
  const expected = expectedSignatures(signers, request.signable, app.app_secret);
  const { old_secret } = app;
  if (old_secret !== null && performance.now() < app.old_ends) {
    // Both by the same secret.
    const old = expectedSignatures(signers, request.signable, old_secret);
    if (isSame(text('app_sign'), old.app_sign.digest) && isSame(text('sign'), old.sign.digest))
      return app;
  }
  for (const name of ['app_sign', 'sign'] as const) {
    if (isSame(text(name), expected[name].digest)) continue;
    const code = name === 'app_sign' ? resultCode.wrongAppSign : resultCode.wrongSign;
    throw new RefusedError(code, {
      rejected: { signature: name, request, app, signers, expected },
    });
  }
  return app;
}

function isSame(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
