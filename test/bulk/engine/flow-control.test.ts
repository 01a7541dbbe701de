import { describe, expect, it } from 'vitest';
import { ConcurrencyLimit } from '../../../src/bulk/engine/flow-control.js';

/** A limit over a service whose latency depends on how much it is asked at once; times are milliseconds. */
class Simulation {
  now = 1;
  readonly limit: ConcurrencyLimit;

  constructor(most = 32) {
    this.limit = new ConcurrencyLimit(most);
  }

  /** Lets the service answer for `ms`, as many requests at a time as the limit allows. */
  run(ms: number, latencyOf: (concurrency: number) => number): number {
    for (const end = this.now + ms; this.now < end; ) {
      const { current } = this.limit;
      const latencies = Array.from({ length: current }, () => latencyOf(current));
      this.now += latencies.reduce((sum, one) => sum + one) / current;
      for (const latency of latencies) this.limit.onAnswer(latency, this.now);
    }
    return this.limit.current;
  }
}

describe('the concurrency limit', () => {
  it('starts low and soon reaches the given maximum', () => {
    const simulation = new Simulation();
    expect(simulation.limit.current).toBeLessThan(32);
    expect(simulation.run(500, () => 20)).toBe(32);
  });

  it('stays the same while latency is high but does not grow', () => {
    const simulation = new Simulation();
    let turn = 0;
    // 200 ms to 2 s, as it comes
    const uneven = () => 200 + ((turn++ * 7919) % 1800);
    simulation.run(30_000, uneven);
    expect(simulation.run(10_000, uneven)).toBeGreaterThan(24);
  });

  it('ignores latency caused by its own queueing', () => {
    const simulation = new Simulation();
    expect(simulation.run(2_000, (concurrency) => concurrency / 30)).toBe(32);
  });

  it('decreases while latency grows with it, and recovers afterwards', () => {
    const simulation = new Simulation();
    simulation.run(2_000, () => 20);
    expect(simulation.limit.current).toBe(32);
    const overrun = simulation.run(3_000, (concurrency) => 25 * concurrency);
    expect(overrun).toBeLessThan(8);
    expect(simulation.run(5_000, () => 20)).toBe(32);
  });

  it('stays the same if the service becomes slower independently', () => {
    const simulation = new Simulation();
    simulation.run(2_000, () => 20);
    expect(simulation.run(5_000, () => 500)).toBeGreaterThan(1);
    expect(simulation.run(60_000, () => 500)).toBe(32);
  });

  it('halves on throttling, once for all requests in flight together', () => {
    const simulation = new Simulation();
    simulation.run(1_000, () => 20);
    const sentAt = simulation.now;
    simulation.now += 10;
    for (let i = 0; i < 10; i += 1) simulation.limit.onThrottle(sentAt, simulation.now);
    expect(simulation.limit.current).toBe(16);
    expect(simulation.run(5_000, () => 20)).toBe(32);
  });

  it('is one during an outage, and doubles after each answer', () => {
    const simulation = new Simulation();
    simulation.run(1_000, () => 20);
    simulation.limit.onUnreachable(simulation.now);
    expect(simulation.limit.current).toBe(1);
    expect(simulation.run(1_500, () => 20)).toBe(32);
  });
});
