import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const spec = readFileSync(join(import.meta.dirname, '../../docs/spec.md'), 'utf8');

/** The names in the first column of the first table after a line of docs/spec.md. */
export function namesInSpec(line: string): readonly string[] {
  const [table = ''] = spec.slice(spec.indexOf(line)).match(/^\|.*?\n\n/ms) ?? [];
  return [...table.matchAll(/^\| ([a-z_]+) \|/gm)].map(([, name = '']) => name);
}

/**
 * §2.2: `basic_info` of a platform that writes all its fields, null by default, with its own
 * prefix.
 */
export function wholeBasicInfo(prefix: string, values: object): Readonly<Record<string, unknown>> {
  const names = namesInSpec('### 2.2 ').map((name) => name.replace(/^chat_/, prefix));
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...values };
}

/** §2.3: the fields of a login device. */
export function loginDeviceFieldsInSpec(): readonly string[] {
  const [, fields = ''] = /^All fields are strings: (.*)$/m.exec(spec) ?? [];
  return [...fields.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
}
