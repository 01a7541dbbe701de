import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

/** The tests that the CI's Linux may skip, each as the closing report names it. */
const allowed = readFileSync(new URL('allowed-skips', import.meta.url), 'utf8').split('\n');

/**
 * Prints, before the closing lines of the default reporter, which tests were skipped and why, and
 * how long the tests of each folder took; files run side by side, so the sum is longer than the
 * run. With USERINFO_TEST_ALL=1, as in `.ci/run` where scripts/world.mjs may install what is
 * missing, another skip than those that are allowed is a failure. After a failure it prints the
 * seed of all random values.
 */
export default class ClosingReport implements Reporter {
  #isFiltered = false;

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // A filter skips what it does not name.
    const skipped = this.#isFiltered ? [] : linesOfSkipped(modules);
    if (skipped.length > 0) process.stdout.write(`\nskipped:\n${skipped.join('')}`);
    const unexpected = skipped.filter(
      (line) => !allowed.includes(line.trim().replace(/^\d+ +/, '')),
    );
    if (unexpected.length > 0 && process.env.USERINFO_TEST_ALL === '1') {
      process.stdout.write(`\nnot in test/support/allowed-skips:\n${unexpected.join('')}`);
      process.exitCode = 1;
    }
    if (modules.some((module) => !module.ok())) {
      process.stdout.write(
        `\nrandom values: USERINFO_TEST_SEED=${process.env.USERINFO_TEST_SEED}\n`,
      );
    }
    const times = linesOfTimes(modules);
    if (times.length > 1) process.stdout.write(`\n${times.join('')}`);
  }
}

/**
 * A line for each test or suite that is skipped as a whole, with the note of `skip` or the "(needs
 * …)" of its title.
 */
function linesOfSkipped(modules: readonly TestModule[]): string[] {
  const counts = new Map<string, number>();
  for (const module of modules) {
    for (const test of module.children.allTests('skipped')) {
      const result = test.result();
      const note = result.state === 'skipped' ? result.note : undefined;
      const title = titleOfSkipped(test);
      const reason = note ?? /\((needs [^)]+)\)/.exec(title)?.[1] ?? 'NO REASON GIVEN';
      const line = `${relative(process.cwd(), module.moduleId)}: ${reason}`;
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
  }
  return [...counts].sort().map(([line, count]) => `${String(count).padStart(6)}  ${line}\n`);
}

/** The title of the test, with those of its suites. */
function titleOfSkipped(test: TestCase): string {
  const titles = [test.name];
  for (
    let suite: TestModule | TestSuite = test.parent;
    suite.type === 'suite';
    suite = suite.parent
  )
    titles.push(suite.name);
  return titles.reverse().join(' > ');
}

function linesOfTimes(modules: readonly TestModule[]): string[] {
  const seconds = new Map<string, number>();
  for (const module of modules) {
    const file = relative(process.cwd(), module.moduleId);
    const part = dirname(file)
      .split('/')
      .slice(0, file.startsWith('test/cli/') ? 3 : 2)
      .join('/');
    const { duration, collectDuration, setupDuration } = module.diagnostic();
    seconds.set(
      part,
      (seconds.get(part) ?? 0) + (duration + collectDuration + setupDuration) / 1_000,
    );
  }
  return [...seconds]
    .sort(([, a], [, b]) => b - a)
    .map(([part, time]) => `${time.toFixed(1).padStart(7)} s  ${part}\n`);
}
