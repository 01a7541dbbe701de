import { expect, it } from 'vitest';
import { printRates } from '../print-rates.js';
import { measureBuilt } from './measure-built.js';

it('measures what signing costs beside the two digests', async () => {
  const [bare, signed] = await measureBuilt('measure-sign.mjs');
  printRates(
    'Signing one request, time and random string given',
    { name: 'two bare digests of the same messages', perSecond: bare },
    { name: 'app_sign and sign', perSecond: signed },
  );
  expect(signed).toBeGreaterThan(0);
});
