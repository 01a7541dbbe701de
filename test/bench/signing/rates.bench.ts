import { expect, it } from 'vitest';
import { vectors } from '../../support/signing-corpus.js';
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

/** CPU seconds of one thread: what a search takes at the most on two cores. */
const seconds = 20;

it.each(['wechatpay-v2-md5', 'qimen-body'])(
  'measures how fast recipes are tried on %s',
  async (name) => {
    const { request, secret } = vectors.find((vector) => vector.name === name) ?? {};
    const [bare, tried] = await measureBuilt(
      'measure-search.mjs',
      JSON.stringify({ request, secret }),
      `${seconds}`,
    );
    printRates(
      'Candidates a second and core',
      { name: 'one-shot MD5 of 180 bytes', perSecond: bare },
      { name: `recipes tried on ${name}`, perSecond: tried },
    );
    expect(tried).toBeGreaterThan(0);
  },
);
