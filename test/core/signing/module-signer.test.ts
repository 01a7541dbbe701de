import { expect, test } from 'vitest';
import { compileRecipes, signBoth } from '../../../src/core/signing/app-signatures.js';
import { moduleSigner, type SignerModule } from '../../../src/core/signing/module-signer.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import type { SignableRequest } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { requestOf } from '../../support/signing-requests.js';

const backwards = {
  sign: (request: SignableRequest, secret: Secret) => ({
    message: `${request.params.length} parameters and <secret>`,
    digest: [...secret.reveal()].reverse().join(''),
  }),
};

test('a module signs in a recipe’s place', () => {
  const signers = {
    ...compileRecipes(defaultRecipes),
    app_sign: moduleSigner(backwards, './signer.mjs'),
  };
  const { app_sign, sign } = signBoth(signers, requestOf([['a', '1']]), new Secret('s3cret'));
  expect(app_sign).toEqual({ params: '', message: '1 parameters and <secret>', digest: 'terc3s' });
  expect(sign.params).toBe('a=1&app_sign=terc3s');
});

test('what a module explains is shown as it is where there is no secret', () => {
  const fixed = { sign: () => ({ message: 'a and b', digest: 'x' }) };
  const { message } = moduleSigner(fixed, 'm').explain(requestOf([]), new Secret(''));
  expect(message).toBe('a and b');
});

test('a module’s digest has a known length only if the module says so', () => {
  expect(moduleSigner(backwards, 'm').digestLength).toBeNull();
  expect(moduleSigner({ ...backwards, digestLength: 6 }, 'm').digestLength).toBe(6);
});

test.each([
  [null, 'm: has no function sign'],
  [{ sign: 'md5' }, 'm: has no function sign'],
])('a module like %j is refused', (module, problem) => {
  expect(() => moduleSigner(module as unknown as SignerModule, 'm')).toThrow(problem);
});

test.each([[undefined], [{}], [{ digest: '' }], [Promise.resolve({ digest: 'x' })]])(
  'a module that gives %j instead of a digest is an error',
  (given) => {
    const signer = moduleSigner({ sign: () => given } as unknown as SignerModule, 'm');
    expect(() => signer.sign(requestOf([]), new Secret('s3cret'))).toThrow(
      'm: sign() gave no digest',
    );
  },
);

test('what a module says is shown without the secret, its errors too', () => {
  const talkative = {
    sign: (_: SignableRequest, secret: Secret) => ({
      message: `a=1${secret.reveal()}`,
      digest: 'd',
    }),
    app_sign(_: SignableRequest, secret: Secret): never {
      throw new TypeError(`no ${secret.reveal()}`);
    },
  };
  const [app_sign, sign] = [moduleSigner(talkative, 'm', 'app_sign'), moduleSigner(talkative, 'm')];
  expect(sign.explain(requestOf([]), new Secret('s3cret')).message).toBe('a=1<secret>');
  expect(() => app_sign.sign(requestOf([]), new Secret('s3cret'))).toThrow(
    'm: app_sign() failed: TypeError: no <secret>',
  );
});
