import { describe, expect, it } from 'vitest';
import { FlowControl } from '../../../src/client/rows/flow-control.js';

const outcome = { verdict: 'final', isMiss: false, startedAt: 0, retryAfterMs: undefined } as const;
const throttled = { ...outcome, verdict: 'throttled' } as const;
const miss = { ...outcome, verdict: 'retry', isMiss: true } as const;

/** Flow control over a service; times are milliseconds. */
class Simulation {
  now = 1;
  readonly flow = new FlowControl({ concurrency: 32, ratePerSecond: null }, 0);

  /** Lets the service answer for `ms`, as many requests at a time as the limit allows. */
  run(ms: number, latency: number): number {
    for (const end = this.now + ms; this.now < end; ) {
      const limit = this.flow.limit;
      this.now += latency;
      for (let answers = 0; answers < limit; answers += 1) this.flow.onOutcome(outcome, this.now);
    }
    return this.flow.limit;
  }
}

describe('the concurrency limit', () => {
  it('starts low and soon reaches the given maximum, of a slow service too', () => {
    for (const latency of [20, 900]) {
      const simulation = new Simulation();
      expect(simulation.flow.limit).toBe(8);
      expect(simulation.run(200 + 2 * latency, latency)).toBe(32);
    }
  });

  it('halves on throttling, once for all requests in flight together', () => {
    const simulation = new Simulation();
    simulation.run(1_000, 20);
    const startedAt = simulation.now;
    simulation.now += 10;
    for (let i = 0; i < 10; i += 1)
      simulation.flow.onOutcome({ ...throttled, startedAt }, simulation.now);
    expect(simulation.flow.limit).toBe(16);
    expect(simulation.run(5_000, 20)).toBe(32);
  });

  it('is one during an outage, and doubles after each answer', () => {
    const simulation = new Simulation();
    simulation.run(1_000, 20);
    for (let i = 0; i < 5; i += 1)
      simulation.flow.onOutcome({ ...miss, startedAt: simulation.now }, simulation.now);
    expect(simulation.flow.limit).toBe(1);
    expect(simulation.run(1_500, 20)).toBe(32);
  });
});

describe('flow control', () => {
  /** Pauses have their shortest length; the clock is the test's own. */
  const newFlow = (ratePerSecond: number | null = null) =>
    new FlowControl({ concurrency: 8, ratePerSecond }, 0, () => 0);

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
    for (let i = 0; i < 4; i += 1) flow.onOutcome(miss, 10);
    expect(flow.waitMs(10)).toBe(0);
    flow.onOutcome(miss, 10);
    expect(flow.limit).toBe(1);
    expect(flow.waitMs(10)).toBe(50);
    let longest = 0;
    for (let now = flow.pausedUntil, i = 0; i < 9; i += 1, now = flow.pausedUntil) {
      flow.onOutcome({ ...miss, startedAt: now }, now);
      longest = flow.pausedUntil - now;
    }
    expect(longest).toBe(500);
    // What was sent before the pause says nothing new.
    const until = flow.pausedUntil;
    flow.onOutcome({ ...miss, startedAt: until - 1 }, until + 5);
    expect(flow.pausedUntil).toBe(until);
    // An answer ends the outage: the next one is probed soon again.
    const back = flow.pausedUntil;
    flow.onOutcome({ ...outcome, startedAt: back }, back);
    for (let i = 0; i < 5; i += 1) flow.onOutcome({ ...miss, startedAt: back }, back + 10);
    expect(flow.waitMs(back + 10)).toBe(50);
  });

  it.each([
    ['3 s if it never answered', false, 3_000],
    ['30 s if it has answered', true, 30_000],
  ])('gives a service up after %s', (_, hasAnswered, patienceMs) => {
    const flow = newFlow();
    if (hasAnswered) flow.onOutcome(outcome, 0);
    for (let i = 0; i < 5; i += 1) flow.onOutcome(miss, 1);
    expect(flow.isGivenUp(patienceMs)).toBe(false);
    expect(flow.isGivenUp(patienceMs + 1)).toBe(true);
    flow.onOutcome(outcome, patienceMs + 1);
    expect(flow.isGivenUp(patienceMs + 1)).toBe(false);
  });
});
