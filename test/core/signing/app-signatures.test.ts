import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  compileRecipes,
  expectedSignatures,
  explainBoth,
  signBoth,
} from '../../../src/core/signing/app-signatures.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import { completeRecipe } from '../../../src/core/signing/recipe.js';
import type { Param } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { requestOf } from '../../support/signing-requests.js';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const secret = new Secret('s3cret');

const query: readonly Param[] = [
  ['tenant_code', 't1'],
  ['app_key', 'k1'],
  ['app_sign', ''],
  ['channel', 'web'],
  ['random', 'abcdefgh'],
  ['timestamp', '1700000000'],
  ['sign', ''],
  ['info_name', ''],
];

test('the default recipes sign as docs/platform.md says', () => {
  const { app_sign, sign } = signBoth(compileRecipes(defaultRecipes), requestOf(query), secret);
  expect(app_sign.message).toBe('app_key=k1&random=abcdefgh&timestamp=1700000000&key=s3cret');
  expect(app_sign.digest).toBe(md5(app_sign.message));
  expect(sign.message).toBe(
    `app_key=k1&app_sign=${app_sign.digest}&channel=web&random=abcdefgh&tenant_code=t1&timestamp=1700000000&key=s3cret`,
  );
  expect(sign.digest).toBe(md5(sign.message));
});

const sent = completeRecipe({
  params: { order: 'sent' },
  message: ['$params'],
  steps: ['md5'],
});

test('app_sign takes part in sign at the place where it will be sent', () => {
  const signers = compileRecipes({ app_sign: sent, sign: sent });
  const placed = signBoth(signers, requestOf(query), secret);
  const namesIn = (text: string) => [...new URLSearchParams(text).keys()].join();
  expect(namesIn(placed.app_sign.params)).toBe(
    'tenant_code,app_key,channel,random,timestamp,info_name',
  );
  expect(namesIn(placed.sign.params)).toBe(
    'tenant_code,app_key,app_sign,channel,random,timestamp,info_name',
  );
  const last = signBoth(signers, requestOf([['app_key', 'k1']]), secret);
  expect(namesIn(last.sign.params)).toBe('app_key,app_sign');
});

test('the query in a message is that without the signature itself', () => {
  const whole = completeRecipe({ message: ['$query'], steps: ['md5'] });
  const params: readonly Param[] = [
    ['a', '1'],
    ['app_sign', 'x'],
    ['sign', 'y'],
  ];
  const received = { ...requestOf(params), query: 'a=1&app_sign=x&sign=y' };
  const expected = expectedSignatures(
    compileRecipes({ app_sign: whole, sign: whole }),
    received,
    secret,
  );
  expect([expected.app_sign.message, expected.sign.message]).toEqual(['a=1', 'a=1&app_sign=x']);
});

test('a received sign is expected over the received app_sign, right or wrong', () => {
  const signers = compileRecipes(defaultRecipes);
  const signed = signBoth(signers, requestOf(query), secret);
  const receivedWith = (appSign: string) => {
    const values: Record<string, string> = { app_sign: appSign, sign: 'anything' };
    return requestOf(query.map(([name, value]) => [name, values[name] ?? value]));
  };
  expect(expectedSignatures(signers, receivedWith(signed.app_sign.digest), secret)).toEqual(signed);

  const wrong = expectedSignatures(signers, receivedWith('forged'), secret);
  expect(wrong.app_sign).toEqual(signed.app_sign);
  expect(wrong.sign.message).toContain('app_sign=forged&');
});

test('what is explained is what is signed; an app_sign that was received is left as it is', () => {
  const signers = compileRecipes(defaultRecipes);
  const signed = signBoth(signers, requestOf(query), secret);
  const explained = explainBoth(signers, requestOf(query), secret);
  expect(explained.app_sign.digest).toBe(signed.app_sign.digest);
  expect(explained.sign).toMatchObject({ digest: signed.sign.digest, params: signed.sign.params });
  const forged = requestOf(
    query.map(([name, value]) => [name, name === 'app_sign' ? 'forged' : value]),
  );
  expect(explainBoth(signers, forged, secret).sign.message).toContain('app_sign=forged&');
});

test('an error in one of the two recipes names it', () => {
  const broken = { ...defaultRecipes, sign: { ...sent, steps: ['md7'] } };
  expect(() => compileRecipes(broken)).toThrow('sign.steps[0]: unknown step md7');
});
