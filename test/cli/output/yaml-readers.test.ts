import { execFileSync } from 'node:child_process';
import { parse as parseLossless } from 'lossless-json';
import { expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { formatYaml } from '../../../src/cli/output/yaml.late.js';

const hasPyYaml = (() => {
  try {
    execFileSync('/usr/bin/python3', ['-c', 'import yaml'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/**
 * Texts that a reader of YAML 1.1, of 1.2 or of both takes for something else where they are not
 * quoted.
 */
const texts = [
  ...'= << ~ null Null yes Yes no on off y n true TRUE False'.split(' '),
  ...'0o17 017 0x1F 0b101 1_000 1,000 12:30:45 190:20:30.15 1.5 .5 5. 1e3 1E-3'.split(' '),
  ...[
    '.inf',
    '-.INF',
    '.nan',
    '+1',
    '-0',
    '2001-12-14',
    '2001-12-14t21:59:43.10-05:00',
    '2001-1-1 1:1:1',
  ],
  ...`a: b,- a,# a,a #b,@a,\`a,%a,!a,&a,*a,|,>,{a,[a,'a,"a,a:`.split(','),
  ...[
    '?',
    '? a',
    '-',
    '--- a',
    '...',
    ' a',
    'a ',
    'a\nb',
    'a\u0085b',
    'a\u2028b',
    '\ufeff',
    '😀',
    'é',
  ],
  ...['', ' '],
];

const numbers =
  '[0,1,-1.50,1e3,1E3,1e-3,1.5e3,-2E+10,9007199254740993,1.00,123456789012345678901234567890]';

it.skipIf(!hasPyYaml)('a reader of YAML 1.1 and one of 1.2 read the same (needs PyYAML)', () => {
  const data = {
    texts,
    keys: Object.fromEntries(texts.map((text) => [text, text])),
    others: [true, false, null],
  };
  const yaml = formatYaml({ ...data, numbers: parseLossless(numbers) });
  const script = 'import json,sys,yaml; print(json.dumps(yaml.safe_load(sys.stdin.buffer.read())))';
  const read = JSON.parse(
    execFileSync('/usr/bin/python3', ['-c', script], { input: yaml, encoding: 'utf8' }),
  );
  expect(read).toEqual({ ...data, numbers: JSON.parse(numbers) });
  for (const version of ['1.1', '1.2'] as const) {
    expect(parseYaml(yaml, { version })).toEqual({ ...data, numbers: JSON.parse(numbers) });
  }
  // What is read as a number is written with its digits, unless 1.1 takes it for text.
  const written = formatYaml(parseLossless('[9007199254740993,1.00,1e3]'));
  expect(written).toBe('- 9007199254740993\n- 1.00\n- 1.0e+3\n');
});
