import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly number[]>> };
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join(import.meta.dirname, '..', '..', '.github', 'workflows');
const texts = readdirSync(folder).map(
  (name) => [name, readFileSync(join(folder, name), 'utf8')] as const,
);
const workflows = new Map(texts.map(([name, text]) => [name, parse(text) as Workflow]));
const jobs = [...workflows.values()].flatMap((workflow) =>
  Object.values(workflow.jobs).map((job) => ({
    ...job,
    rights: job.permissions ?? workflow.permissions,
  })),
);
const hasSecret = (part: unknown) => /secrets\.|github\.token/.test(JSON.stringify(part ?? ''));

describe('the workflows', () => {
  it.each(texts)('%s names each action by its commit, with the version beside it', (_, text) => {
    const uses = text.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    for (const line of uses)
      expect(line).toMatch(/uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const steps = Object.values((parse(text) as Workflow).jobs).flatMap((job) => job.steps);
    expect(steps.filter((step) => step.uses !== undefined)).toHaveLength(uses.length);
  });

  it('may read the repository and no more, unless a job publishes', () => {
    for (const { permissions, env } of workflows.values()) {
      expect([permissions, hasSecret(env)]).toEqual([{ contents: 'read' }, false]);
    }
    const others = jobs.filter(({ rights }) => JSON.stringify(rights) !== '{"contents":"read"}');
    expect(others.map(({ rights }) => rights)).toEqual([{ 'id-token': 'write' }]);
  });

  it('run nothing but npm publish, of a tarball and without scripts, beside a token', () => {
    const trusted = jobs.filter((job) => job.rights['id-token'] !== undefined || hasSecret(job));
    expect(trusted).toHaveLength(1);
    const [{ steps = [], env } = {}] = trusted;
    const runs = steps.filter(({ run }) => run !== undefined);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.run).toMatch(
      /^npm publish --ignore-scripts "\.\/package\/[\w-]+-\$\{GITHUB_REF_NAME#v\}\.tgz" --provenance --access public$/,
    );
    expect(steps.filter(hasSecret)).toEqual(runs);
    expect(hasSecret(env)).toBe(false);
    expect(steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))).toEqual([]);
  });

  it('pack before anything runs that is not in the lockfile, and publish only what passed', () => {
    const { pack, publish } = workflows.get('release.yml')?.jobs ?? {};
    expect(publish?.needs).toBe('pack');
    const done = pack?.steps.map(({ run, uses }) => run ?? uses?.split('@')[0]);
    expect(done).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'npm ci --ignore-scripts',
      'npm pack',
      'actions/upload-artifact',
      'bash .ci/run',
      'npm run audit',
    ]);
  });

  it('audit the bundled packages each week', () => {
    const audit = workflows.get('audit.yml');
    const weekly = /^([0-5]?\d) (1?\d|2[0-3]) \* \* [0-6]$/;
    expect(audit?.on).toEqual({
      schedule: [{ cron: expect.stringMatching(weekly) }],
      workflow_dispatch: null,
    });
    expect(audit?.jobs.audit?.steps.at(-1)).toEqual({ run: 'npm run audit' });
  });

  it('run the tests of the client each week with the latest undici of the lines that it works with', () => {
    const { strategy, steps = [] } = workflows.get('audit.yml')?.jobs.undici ?? {};
    expect(strategy?.matrix.undici).toEqual([7, 8]);
    expect(steps.flatMap(({ run }) => run ?? [])).toEqual([
      'npm ci --ignore-scripts',
      `npm install --ignore-scripts --no-save undici@\${{ matrix.undici }}`,
      'npm run build',
      'npx vitest run --project sqlite test/client',
      'node bin/userinfo.cjs demo',
    ]);
  });

  it('test each line of Node that "engines" names, and later lines that are released for long', () => {
    const { engines } = createRequire(import.meta.url)('../../package.json');
    const named = [...engines.node.matchAll(/[\^>=](\d+)\./g)].map(([, line]) => Number(line));
    const tested = workflows.get('ci.yml')?.jobs.run?.strategy?.matrix.node ?? [];
    expect(named).toHaveLength(2);
    expect(tested.slice(0, 2)).toEqual(named);
    for (const [index, line] of tested.entries()) expect(line).toBe(Number(named[0]) + 2 * index);
  });
});
