import { expect, it } from 'vitest';
import {
  type Comparison,
  probePlatform,
  RandomPlatform,
} from '../lab/behavior/random-platforms.js';
import { Machine } from '../support/cli.js';

/** Number of platforms that are probed at the same time. */
const atOnce = 8;

const count = Number(process.env.SOAK_PLATFORMS ?? 60);
const first = Number(process.env.USERINFO_TEST_SEED ?? 1) % 1_000_000;

it(`says only what is true of ${count} platforms of another making`, async () => {
  using machine = new Machine();
  machine.apart = true;
  const waiting = Array.from({ length: count }, (_, index) => first + index);
  const results: Comparison[] = [];
  const work = async () => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      using platform = await RandomPlatform.start(seed, {});
      const result = await probePlatform(machine, platform.truth, seed, '10ms');
      results.push(result);
      process.stdout.write(`${describe(result)}\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const sum = (of: (result: Comparison) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const faults = {
    right: sum(({ right }) => right),
    wrong: sum(({ wrong }) => wrong.length),
    platforms: results.filter(({ wrong }) => wrong.length > 0).length,
    falseSentences: sum(({ falseSentences }) => falseSentences.length),
    unsaidKeys: sum(({ unsaidKeys }) => unsaidKeys.length),
    tooMany: results.filter(({ requests, announced }) => requests > announced).length,
    requests: sum(({ requests }) => requests),
    open: sum(({ open }) => open.length),
    failed: results.filter(({ report }) => report === null).length,
  };
  process.stdout.write(`${JSON.stringify(faults)}\n`);
  expect(faults).toMatchObject({ wrong: 0, falseSentences: 0, unsaidKeys: 0, tooMany: 0 });
});

/** One line about a platform: what is wrong with what was said, and what it is. */
function describe({ truth, report, stderr, ...result }: Comparison): string {
  const { caller, order, limit, limited_as, block, hiccup, hiccup_as, skew, date, ids } = truth;
  const is = {
    ...caller,
    order: order.join(' '),
    limit,
    limited_as,
    block,
    hiccup,
    hiccup_as,
    skew,
    date,
    ids,
  };
  const said = report?.doubts ?? stderr.split('\n').slice(-4);
  return JSON.stringify({ ...result, open: result.open.length, is, said });
}
