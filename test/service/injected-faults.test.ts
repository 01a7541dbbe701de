import { describe, expect, it } from 'vitest';
import { parseFaults } from '../../src/cli/commands/serve/options.js';
import type { FaultSettings } from '../../src/service/fault-settings.js';
import { type Fault, faultDrawer } from '../../src/service/faults.js';
import { runService, user } from '../support/running-service.js';

const settings: FaultSettings = {
  latencyMs: { min: 200, max: 2_000 },
  error: 0.05,
  reset: 0.01,
  dropAfterCommit: 0.02,
  seed: 7,
};

describe('faults', () => {
  it('are the same for the same seed, and as many as were asked for', () => {
    const [draw, drawAgain] = [faultDrawer(settings), faultDrawer(settings)];
    const drawn = Array.from({ length: 20_000 }, draw);
    expect(drawn).toEqual(drawn.map(drawAgain));
    const share = (isOne: (fault: Fault) => boolean) => drawn.filter(isOne).length / drawn.length;
    expect(share(({ code }) => code === 50001)).toBeCloseTo(0.05, 2);
    expect(share(({ cut }) => cut === 'before')).toBeCloseTo(0.01, 2);
    expect(share(({ cut }) => cut === 'after')).toBeCloseTo(0.02, 2);
    const delays = drawn.map(({ delayMs = 0 }) => delayMs);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(200);
    expect(Math.max(...delays)).toBeLessThanOrEqual(2_000);
    expect(Math.max(...delays)).toBeGreaterThan(1_900);
  });

  it('are read as they are written', () => {
    expect(
      parseFaults('latency=200ms..2s,error=5%,reset=1%,skew=-400s,drop-after-commit=2.5%,seed=7'),
    ).toEqual({
      latencyMs: { min: 200, max: 2_000 },
      error: 0.05,
      reset: 0.01,
      skewSeconds: -400,
      dropAfterCommit: 0.025,
      seed: 7,
    });
    expect(parseFaults('reset=3%,error=97%')).toEqual({ reset: 0.03, error: 0.97 });
    const wrong =
      'error error=5 error=101% latency=2s..1s flood=1% throttle=200/s error=60%,reset=60% seed=x';
    for (const text of ['', ...wrong.split(' ')]) {
      expect(() => parseFaults(text)).toThrow();
    }
  });

  it.each([
    [
      'error=100%',
      (answer: { status: number }) =>
        expect(answer).toMatchObject({ status: 500, envelope: { code: 50001 } }),
    ],
    ['skew=400s', (answer: object) => expect(answer).toMatchObject({ envelope: { code: 40104 } })],
    [
      'latency=150ms',
      (answer: object) => expect(answer).toMatchObject({ envelope: { code: 200 } }),
    ],
  ])('%s is what a client sees', async (text, check) => {
    const { service, passback, log } = await runService({
      faults: { ...parseFaults(text), seed: 1 },
    });
    await service.admin.putUsers([user('u1')]);
    const startedAt = performance.now();
    check(await passback({ union_id: 'u1', user_info: '{"a":"x"}' }));
    if (text.startsWith('latency')) expect(performance.now() - startedAt).toBeGreaterThan(149);
    expect(log[0]).toMatchObject({ event: 'faults', seed: 1 });
    await service.close();
  });

  it.each([
    ['reset=100%', {}],
    ['drop-after-commit=100%', { a: 'x' }],
  ])('%s closes the connection, and the store holds %j', async (text, stored) => {
    const { service, passback } = await runService({ faults: { ...parseFaults(text), seed: 1 } });
    await service.admin.putUsers([user('u1')]);
    await expect(passback({ union_id: 'u1', user_info: '{"a":"x"}' })).rejects.toThrow(
      'fetch failed',
    );
    const record = await service.admin.getUser({ tenantCode: 'acme', unionId: 'u1' });
    expect(record.extension_info).toEqual(stored);
    await service.close();
  });

  it('leave the health check alone', async () => {
    const { service } = await runService({ faults: { reset: 1, seed: 1 } });
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await service.close();
  });
});
