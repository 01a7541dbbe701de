import { describe, expect, it } from 'vitest';
import { ConcurrencyLimit, FlowControl } from '../../../src/bulk/engine/flow-control.js';

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

  it.each([
    [2_000, 16],
    [71, 18],
  ])('is halved at most when latency climbs to %i ms: %i', (latencyMs, expected) => {
    const { limit } = new Simulation();
    let now = 1;
    const window = (ms: number) => {
      now += 100;
      for (let answers = 0; answers < 8; answers += 1) limit.onAnswer(ms, now);
    };
    for (let count = 0; count < 9; count += 1) window(20);
    expect(limit.current).toBe(32);
    window(latencyMs);
    expect(limit.current).toBe(expected);
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

describe('flow control', () => {
  /** Pauses have their shortest length; the clock is the test's own. */
  const newFlow = (ratePerSecond: number | null = null) =>
    new FlowControl({ concurrency: 8, ratePerSecond }, 0, () => 0);
  const outcome = { verdict: 'done', isLost: false, startedAt: 0, retryAfterMs: undefined } as const;
  const throttled = { ...outcome, verdict: 'throttled' } as const;
  const missed = { ...outcome, verdict: 'retry', isLost: true } as const;

  /** How many requests may be sent from `start` to `end`. */
  function sentBetween(flow: FlowControl, start: number, end: number): number {
    let sent = 0;
    for (let now = start; now <= end; now += 1) {
      for (; flow.waitMs(now) === 0; sent += 1) flow.onSend(now);
    }
    return sent;
  }

  it('keeps to the rate, and makes up for 50 ms of a pause at most', () => {
    const flow = newFlow(100);
    expect(sentBetween(flow, 0, 999)).toBe(100);
    expect(sentBetween(flow, 60_000, 60_000)).toBe(6);
    expect(sentBetween(flow, 60_001, 61_000)).toBe(100);
  });

  it('sends one request after the other at a rate below one a second', () => {
    expect(sentBetween(newFlow(0.5), 0, 9_999)).toBe(5);
  });

  it('pauses longer each time it is throttled, and once for requests that were in flight together', () => {
    const flow = newFlow();
    const pauses: number[] = [];
    for (let now = 0; pauses.length < 8; now = flow.pausedUntil) {
      for (let i = 0; i < 3; i += 1) flow.onOutcome({ ...throttled, startedAt: now }, now + 10);
      pauses.push(flow.pausedUntil - now - 10);
    }
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, 2500, 2500]);
    expect(flow.limit).toBe(1);
    const now = flow.pausedUntil;
    expect(flow.waitMs(now - 1)).toBe(1);
    flow.onOutcome({ ...outcome, startedAt: now }, now + 10);
    flow.onOutcome({ ...throttled, startedAt: now }, now + 20);
    expect(flow.waitMs(now + 20)).toBe(50);
  });

  it('waits as long as the service requests', () => {
    const flow = newFlow(1000);
    flow.onOutcome({ ...throttled, retryAfterMs: 7_000 }, 100);
    flow.onOutcome({ ...throttled, retryAfterMs: 2_000 }, 200);
    expect(flow.waitMs(300)).toBe(6_800);
    expect(flow.waitMs(7_100)).toBe(0);
  });

  it('probes a service that cannot be reached with one request at a time', () => {
    const flow = newFlow();
    for (let i = 0; i < 4; i += 1) flow.onOutcome(missed, 10);
    expect(flow.waitMs(10)).toBe(0);
    flow.onOutcome(missed, 10);
    expect(flow.limit).toBe(1);
    expect(flow.waitMs(10)).toBe(50);
    let longest = 0;
    for (let now = flow.pausedUntil, i = 0; i < 9; i += 1, now = flow.pausedUntil) {
      flow.onOutcome({ ...missed, startedAt: now }, now);
      longest = flow.pausedUntil - now;
    }
    expect(longest).toBe(500);
    // What was sent before the pause says nothing new.
    const until = flow.pausedUntil;
    flow.onOutcome({ ...missed, startedAt: until - 1 }, until + 5);
    expect(flow.pausedUntil).toBe(until);
    // An answer ends the outage: the next one is probed soon again.
    const back = flow.pausedUntil;
    flow.onOutcome({ ...outcome, startedAt: back }, back);
    for (let i = 0; i < 5; i += 1) flow.onOutcome({ ...missed, startedAt: back }, back + 10);
    expect(flow.waitMs(back + 10)).toBe(50);
  });

  it.each([
    ['3 s if it never answered', false, 3_000],
    ['30 s if it has answered', true, 30_000],
  ])('gives a service up after %s', (_, hasAnswered, patienceMs) => {
    const flow = newFlow();
    if (hasAnswered) flow.onOutcome(outcome, 0);
    for (let i = 0; i < 5; i += 1) flow.onOutcome(missed, 1);
    expect(flow.isGivenUp(patienceMs)).toBe(false);
    expect(flow.isGivenUp(patienceMs + 1)).toBe(true);
    flow.onOutcome(outcome, patienceMs + 1);
    expect(flow.isGivenUp(patienceMs + 1)).toBe(false);
  });
});
