import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { readRequest, signableRequest } from '../../../src/client/request.js';
import { compileRecipes, signBoth } from '../../../src/signing/pair.js';
import { defaultRecipes } from '../../../src/signing/presets.js';
import { Secret } from '../../../src/signing/secret.js';
import { printRates } from '../print-rates.js';
import { cpuRate } from './cpu-rate.js';

const seconds = 2;

it('measures what signing costs beside the two digests', () => {
  const signers = compileRecipes(defaultRecipes);
  const secret = new Secret('192006250b4c09247ec02edce69f6a2d');
  const request = signableRequest(
    readRequest({ code: 'a-code-of-a-user', infoNames: ['mobile', 'level'] }),
    'https://platform.example.com',
    { tenantCode: 'acme', appKey: 'app_ef2466ee0b2cfda4', channel: 'web' },
    { random: 'jsLVnVXqNoxLxcE1CVrT', timestamp: 1795283538 },
  );
  const { app_sign, sign } = signBoth(signers, request, secret);
  expect(sign.digest).toBe(hash('md5', sign.message, 'hex'));
  const digests = () => hash('md5', app_sign.message, 'hex') + hash('md5', sign.message, 'hex');
  const signing = () => signBoth(signers, request, secret);
  for (const warmUp of [digests, signing]) cpuRate(1, warmUp);
  printRates(
    'Signing one request, time and random string given',
    { name: 'two bare digests of the same messages', perSecond: cpuRate(seconds, digests) },
    { name: 'app_sign and sign', perSecond: cpuRate(seconds, signing) },
  );
});
