import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { endpoints, formContentType, hasForm } from '../../../src/core/contract/endpoints.js';
import { UserInfoClient } from '../../../src/index.js';

const spec = readFileSync('docs/spec.md', 'utf8');
const places = { query: 'Query parameters:', form: 'Body (form) parameters:' } as const;
const needs = { yes: true, no: false } as Readonly<Record<string, boolean>>;

it.each(endpoints)(
  'the operation $operation is that of its section, and a method of the client',
  (endpoint) => {
    const [, section = ''] = spec.split(new RegExp(`^### ${endpoint.section.slice(1)} `, 'm'));
    const [text = ''] = section.split(/^##/m);
    expect(text).toContain(`- Method: ${endpoint.method}\n- Path: \`{base_url}${endpoint.path}\``);
    expect(text.includes(formContentType)).toBe(hasForm(endpoint));
    expect(endpoint.writes).toBe(endpoint.method !== 'GET');
    expect(endpoint.repeatable && endpoint.method === 'POST').toBe(false);
    const rows = Object.entries(places).flatMap(([place, heading]) => {
      const [, after = ''] = text.split(heading);
      const [table = ''] = /^\|.*?\n\n/ms.exec(after) ?? [];
      const cells = table.matchAll(/^\| (\w+) \| (string|integer) \| (.+?) \| (.+?) \|/gm);
      return [...cells].map(([, name, type, need = '', usual]) => {
        return [place, name, type, needs[need] ?? 'conditional', usual];
      });
    });
    const own = endpoint.parameters.map(
      ({ in: place, name, type, required, default: usual = '-' }) => {
        return [place, name, type, required, usual];
      },
    );
    expect(rows).toEqual(own);
    expect(UserInfoClient.prototype[endpoint.operation]).toBeTypeOf('function');
  },
);
