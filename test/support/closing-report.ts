import { dirname, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Prints how long the tests of each folder took; files run side by side, so the sum is longer than the run. */
export default class TimeByPart implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = new Map<string, number>();
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      const part = dirname(file)
        .split('/')
        .slice(0, file.startsWith('test/cli/') ? 3 : 2)
        .join('/');
      const { duration, collectDuration, setupDuration } = module.diagnostic();
      seconds.set(part, (seconds.get(part) ?? 0) + (duration + collectDuration + setupDuration) / 1_000);
    }
    if (seconds.size < 2) return;
    const rows = [...seconds]
      .sort(([, a], [, b]) => b - a)
      .map(([part, time]) => `${time.toFixed(1).padStart(7)} s  ${part}\n`);
    process.stdout.write(`\n${rows.join('')}`);
  }
}
