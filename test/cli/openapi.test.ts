import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { Machine } from '../support/cli.js';

const machine = new Machine();

afterAll(() => machine[Symbol.dispose]());

describe('openapi', () => {
  it('prints a document without linter findings, as JSON and as YAML', async () => {
    const json = await machine.run(['openapi']);
    expect(json).toMatchObject({ status: 0, stderr: '' });
    const config = await createConfig({ extends: ['recommended-strict'] });
    expect(await lintFromString({ source: json.stdout, config })).toEqual([]);
    const yaml = await machine.run(['openapi', '-o', 'yaml']);
    expect(parseYaml(yaml.stdout)).toEqual(JSON.parse(json.stdout));
    expect(yaml.stdout).not.toMatch(/[&*]a\d/); // aliases, which not every reader of YAML follows
  });

  it('prints a part of it', async () => {
    const done = await machine.run(['openapi', '--query', 'paths.*.*.operationId[]', '--json']);
    expect(done.stdout).toMatch(/^\["read",/);
  });
});
