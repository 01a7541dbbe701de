import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/signing/secret.js';
import { searchHere } from '../../../src/signing/solve/search/search-here.js';
import { vectors } from '../../signing/corpus.js';
import { printRates, type Rate } from '../print-rates.js';
import { cpuRate, cpuSeconds } from './cpu-rate.js';

/** CPU seconds, of which the first go into making what the search needs, as they do for a user. */
const seconds = 15;

/** As long as a usual message. */
const text = 'x'.repeat(180);

const unknown = '0123456789abcdef0123456789abcdef';

it('measures how fast recipes are tried', async () => {
  const digests = () => cpuRate(2, () => hash('md5', text, 'hex'));
  digests();
  const before = digests();
  const rates: Rate[] = [];
  for (const name of ['wechatpay-v2-md5', 'taobao-top-md5', 'qimen-body']) rates.push(await searchRate(name));
  const perSecond = (before + digests()) / 2;
  printRates('Candidates a second and core', { name: 'one-shot MD5 of 180 bytes', perSecond }, ...rates);
});

/** Searches the request of a rule for another signature, which no recipe makes. */
async function searchRate(name: string): Promise<Rate> {
  const vector = vectors.find((known) => known.name === name);
  if (vector === undefined) throw new Error(`no vector ${name}`);
  const task = {
    request: vector.request,
    secret: new Secret(vector.secret),
    signature: unknown,
    otherParams: [],
  };
  const startedAt = cpuSeconds();
  const { tried, hit } = await searchHere(() => cpuSeconds() - startedAt > seconds)(task);
  expect(hit).toBeNull();
  return { name: `recipes tried on ${name}`, perSecond: tried / (cpuSeconds() - startedAt) };
}
