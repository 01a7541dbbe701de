import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UserInfoClient } from '../../src/index.js';
import { endpoints, formContentType, hasForm } from '../../src/protocol/endpoints.js';

const spec = readFileSync('docs/spec.md', 'utf8');
const places = { query: 'Query parameters:', form: 'Body (form) parameters:' } as const;
const needs = { yes: true, no: false } as Readonly<Record<string, boolean>>;

describe.each(endpoints)('the operation $operation', (endpoint) => {
  const [, section = ''] = spec.split(new RegExp(`^### ${endpoint.section.slice(1)} `, 'm'));
  const [text = ''] = section.split(/^##/m);

  it('has the method, the path and the parameters of its section', () => {
    expect(text).toContain(`- Method: ${endpoint.method}\n- Path: \`{base_url}${endpoint.path}\``);
    expect(text.includes(formContentType)).toBe(hasForm(endpoint));
    const rows = Object.entries(places).flatMap(([place, heading]) => {
      const [, after = ''] = text.split(heading);
      const [table = ''] = /^\|.*?\n\n/ms.exec(after) ?? [];
      return [...table.matchAll(/^\| (\w+) \| (string|integer) \| (.+?) \| (.+?) \|/gm)].map((row) => [
        place,
        ...row.slice(1),
      ]);
    });
    const own = endpoint.parameters.map(({ in: place, name, type, required, default: usual = '-' }) => [
      place,
      name,
      type,
      required,
      usual,
    ]);
    expect(
      rows.map(([place, name, type, need = '', usual = '-']) => [
        place,
        name,
        type,
        needs[need] ?? 'conditional',
        usual,
      ]),
    ).toEqual(own);
  });

  it('is a method of the client', () => {
    expect(UserInfoClient.prototype[endpoint.operation]).toBeTypeOf('function');
  });
});
