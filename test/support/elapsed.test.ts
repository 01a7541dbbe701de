import { afterEach, describe, expect, it, vi } from 'vitest';
import { elapsedMs } from '../../src/support/elapsed.js';

describe('the age of a process', () => {
  afterEach(() => vi.restoreAllMocks());

  it('counts a suspension after the clock was set back', () => {
    let [wall, monotonic] = [Date.now(), performance.now()];
    vi.spyOn(Date, 'now').mockImplementation(() => wall);
    vi.spyOn(performance, 'now').mockImplementation(() => monotonic);
    const start = elapsedMs();
    const later = () => elapsedMs() - start;
    wall -= 3_1_000;
    expect(later()).toBe(0);
    wall += 1_000;
    expect(later()).toBeCloseTo(1_000);
    for (const step of [50, -50, 50]) {
      wall += step; // as a clock is adjusted
      expect(later()).toBeCloseTo(1_000);
    }
    [wall, monotonic] = [wall + 2000, monotonic + 2000];
    expect(later()).toBeCloseTo(3_000);
  });
});
