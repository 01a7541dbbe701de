import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pasteFault } from '../../src/protocol/pasted-text.js';
import { deploymentVariables, Machine } from '../support/cli.js';
import { httpServer, writtenBy } from '../support/raw-server.js';

/** What is pasted with a text, or in its place: the text, and what is said of it. */
const pasted: readonly (readonly [kind: string, paste: (text: string) => string, says: string | RegExp])[] = [
  ['a space before it', (text) => ` ${text}`, 'has a space before it'],
  ['a line end behind it', (text) => `${text}\r`, 'has white space after it'],
  ['a no-break space before it', (text) => `\u00a0${text}`, 'has white space before it'],
  ['a line break inside', (text) => `${text[0]}\n${text.slice(1)}`, 'has a line break inside'],
  ['a zero-width space', (text) => `${text}\u200b`, 'has an invisible character (U+200B)'],
  ['a byte order mark', (text) => `${text[0]}\ufeff${text.slice(1)}`, 'has an invisible character (U+FEFF)'],
  ['a mark of direction', (text) => `\u202a${text}\u202c`, 'has an invisible character (U+202A)'],
  [
    'a no-break space inside',
    (text) => `${text[0]}\u00a0${text.slice(1)}`,
    'has an invisible character (U+00A0)',
  ],
  [
    'full width',
    (text) => text.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
    'has full-width characters',
  ],
  [
    'digits of Arabic',
    (text) => text.replaceAll('1', '\u0661').replaceAll('4', '\u06f4'),
    'another alphabet',
  ],
  ['a Cyrillic letter', (text) => `${text}b\u0430`, /another alphabet|not digits/],
  ['the cell beside it', (text) => `${text}\t张三`, 'has a tab inside, as between two cells'],
  ['quotes', (text) => `"${text}"`, 'is in quotes'],
  ['quotes of a chat', (text) => `“${text}”`, 'is in quotes'],
  ['a quote of another shell', (text) => `"${text}`, 'has a quote before it'],
  ['an apostrophe', (text) => `'${text}`, 'has an apostrophe before it'],
  ['another encoding', (text) => `${text}\ufffd`, /U\+FFFD|not UTF-8/],
  ['a template', () => '{{user}}', 'stands for a missing value'],
  ['a variable that was not replaced', () => `\${USER}`, 'stands for a missing value'],
  ['no value of JavaScript', () => 'undefined', 'stands for a missing value'],
  ['no value of a spreadsheet', () => '#N/A', 'stands for a missing value'],
  ['no value of a database', () => '\\N', 'stands for a missing value'],
  ['a mask', (text) => `${text[0]}****${text.slice(-1)}`, 'is masked'],
  ['angle brackets', (text) => `<${text}>`, 'is in angle brackets'],
  ['a prompt', (text) => `$ ${text}`, /begins with a prompt or a mark|not digits/],
  ['marks of Markdown', (text) => `**${text}**`, /is in marks of Markdown|not digits/],
  ['a comment', (text) => `"${text}" # of .env`, /has a comment after it|not digits/],
  ['the comma of a list', (text) => `${text},`, 'has a delimiter after it'],
  ['the quotes and the comma of JSON', (text) => `"${text}",`, /has a delimiter after it|is in quotes/],
  ['a variable of PowerShell', () => '$env:user', 'stands for a missing value'],
  ['a command that no shell ran', () => '$(cat user)', 'stands for a missing value'],
];

/** A text that names somebody, or costs something: the text, and how the program is given it. */
const places: readonly (readonly [
  place: string,
  text: string,
  args: (text: string, file: (rows: string, name?: string) => string) => readonly string[],
])[] = [
  ['--union-id', '1001', (text) => ['passback', 'a=b', '--union-id', text]],
  ['--primary-key', '1001', (text) => ['passback', 'a=b', '--primary-key', text]],
  ['the key of a pair', '1001', (text) => ['passback', `${text}=b`, '--union-id', 'u001']],
  [
    'a value that identifies',
    '1001',
    (text) => ['passback', `acme_no=${text}`, 'a=b', '--primary-key', 'acme_no'],
  ],
  ['a special value', '13800138000', (text) => ['passback', `mobile=${text}`, '--union-id', 'u001']],
  ['a code', '2474ab', (text) => ['read', text]],
  ['a name', '1001', (text) => ['read', 'abc', text]],
  ['a tenant', '1001', (text) => ['read', 'abc', '--tenant-code', text]],
  ['an app key', '1001', (text) => ['read', 'abc', '--app-key', text]],
  ['a column', '1001', (text, file) => ['bulk', 'passback', file(`union_id,${cell(text)},b\nu001,x,y\n`)]],
  ['a cell with a user', '1001', (text, file) => ['bulk', 'passback', file(`union_id,a\n${cell(text)},b\n`)]],
  [
    'a cell with a special value',
    '13800138000',
    (text, file) => ['bulk', 'passback', file(`union_id,mobile\nu001,${cell(text)}\n`)],
  ],
  ['a cell with a code', '2474ab', (text, file) => ['bulk', 'read', file(`code\n${cell(text)}\n`)]],
  [
    'a row of JSON with a user',
    '1001',
    (text, file) => ['bulk', 'passback', file(`${JSON.stringify({ union_id: text, a: 'b' })}\n`, 'a.ndjson')],
  ],
  [
    'a row of JSON with a special value',
    '13800138000',
    (text, file) => [
      'bulk',
      'passback',
      file(`${JSON.stringify({ union_id: 'u001', mobile: text })}\n`, 'a.ndjson'),
    ],
  ],
];

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

let platform: Awaited<ReturnType<typeof httpServer>>;
const machine = new Machine();
beforeAll(async () => {
  platform = await httpServer((request, response) => response.end(writtenBy(request)));
});
afterAll(async () => {
  await platform.close();
  machine[Symbol.dispose]();
});

let count = 0;
function row() {
  platform.requests.length = 0;
  count += 1;
  const folder = join(machine.folder, `row-${count}`);
  mkdirSync(folder);
  return {
    folder,
    env: { ...deploymentVariables(platform.url), USERINFO_CONFIG_DIR: join(folder, 'config') },
  };
}

async function run(argsOf: (file: (rows: string, name?: string) => string) => readonly string[]) {
  const { folder, env } = row();
  const file = (rows: string, name = 'a.csv') => {
    writeFileSync(join(folder, name), rows);
    return join(folder, name);
  };
  return machine.run(argsOf(file), { env });
}

/** White space around a code or a name is not sent, commas separate names, and columns are text between delimiters. */
const isTaken = (place: string, kind: string) =>
  (/^a (code|name)$/.test(place) && / (before|behind) it$/.test(kind)) ||
  (place === 'a name' && kind === 'the comma of a list');

describe.each(places)(
  '%s that was pasted with something is refused, and nothing is sent',
  (place, text, args) => {
    it.each(pasted.filter(([kind]) => !isTaken(place, kind)))('%s', async (_, paste, says) => {
      const { status, stderr } = await run((file) => args(paste(text), file));
      expect([status, platform.requests]).toEqual([2, []]);
      expect(stderr).toMatch(says);
    });

    it('is sent where nothing was pasted', async () => {
      const { status } = await run((file) => args(text, file));
      expect([status, platform.requests.length]).toEqual(place === '--primary-key' ? [2, 0] : [0, 1]);
    });
  },
);

describe('another value that was pasted with something', () => {
  const refusedAnywhere = /missing value|FFFD|delimiter after/;
  const kinds = pasted.filter(
    ([kind]) =>
      !/line break inside|full width|Arabic|Cyrillic|cell|a mask|angle brackets|a prompt|Markdown|a comment/.test(
        kind,
      ),
  );
  const sent = kinds.filter(([, , says]) => !refusedAnywhere.test(String(says)));
  const refused = kinds.filter(([, , says]) => refusedAnywhere.test(String(says)));
  const pair = (text: string) => ['passback', `acme_note=${text}`, '--union-id', 'u001'];
  const rows = (text: string) => ['u1', 'u2'].map((user) => `${user},${cell(text)}\n`).join('');

  it.each(sent)('is sent with a warning, in a pair: %s', async (_, paste, says) => {
    const { status, stderr } = await run(() => pair(paste('1001')));
    expect([status, platform.requests.length]).toEqual([0, 1]);
    expect(stderr).toContain(`warning: the value of key "acme_note" ${says}`);
  });

  it.each(sent)('is counted before the first row, in a column: %s', async (_, paste, says) => {
    const file = `union_id,acme_note\n${rows(paste('1001'))}`;
    const { status, stderr } = await run((write) => ['bulk', 'passback', write(file)]);
    expect([status, platform.requests.length]).toEqual([0, 2]);
    expect(stderr).toContain(`warning: "acme_note" ${says}`);
    expect(stderr).toContain(', in 2 rows\n');
  });

  it.each(refused)(
    'is refused in a pair, and sent as it is by the printed command: %s',
    async (_, paste, says) => {
      const { status, stderr } = await run(() => pair(paste('1001')));
      expect([status, platform.requests, stderr]).toEqual([2, [], expect.stringMatching(says)]);
      const printed = stderr.match(/^ {2}userinfo .*$/gm)?.at(-1) ?? '';
      const { env } = row();
      if (/UTF-8/.test(stderr)) return;
      expect(await machine.type(printed, { env })).toMatchObject({ status: 0 });
      const body = JSON.stringify({ acme_note: paste('1001') });
      expect(platform.requests.map((one) => decodeURIComponent(one.body))).toEqual([
        expect.stringContaining(body),
      ]);
    },
  );

  const refusedInCells = refused.filter(([, , says]) => !/delimiter after/.test(String(says)));
  it.each(refusedInCells)('is refused in a column, unless --types says text: %s', async (_, paste, says) => {
    const file = `union_id,acme_note,acme_more\nu1,x,y\nu2,${cell(paste('1001'))},#N/A\n`;
    const { status, stderr } = await run((write) => ['bulk', 'passback', write(file)]);
    expect([status, platform.requests]).toEqual([2, []]);
    expect(stderr).toMatch(says instanceof RegExp ? says : `line 3: "acme_note" ${says}`);
    const again = await run((write) => [
      'bulk',
      'passback',
      write(file),
      '--types',
      'acme_note:text,acme_more:text',
    ]);
    expect([again.status, platform.requests.length]).toEqual([0, 2]);
  });

  it.each([
    '张 三',
    'a　b',
    '👨‍👩‍👧',
    '价格：Ａ股',
    'می‌خواهم',
    "it's",
    'a "b" c',
    'line\nbreak',
    'https://a.example/b?c=d',
  ])('without one where it is text: %s', async (text) => {
    const { stderr } = await run(() => ['passback', `acme_note=${text}`, '--union-id', 'u001']);
    expect(stderr).toBe('');
  });
});

describe('a code in what surrounds it', () => {
  it.each([
    ['https://app.example/callback?code=2474ab&state=x', 'is a URL, with the code in its parameter "code"'],
    ['code: 2474ab', 'begins with its name'],
    ['code=2474ab', 'begins with its name'],
    ['auth_code=2474ab', 'begins with its name'],
    ['授权码：2474ab', 'has full-width characters'],
    ['授权码: 2474ab', 'begins with its name'],
    ['2474\u0430b', 'has letters or digits of another alphabet'],
    ['{"code":"2474ab"}', 'is JSON'],
    ['%7B%22code%22%3A%222474ab%22%7D', 'is percent-encoded'],
    ['Bearer 2474ab', 'begins with its name'],
    ['2474ab。', 'ends with a punctuation mark'],
    ['"2474ab"', 'is in quotes'],
    ['2474 ab', 'has a space inside'],
    ['2474ab\u200b', 'has an invisible character (U+200B)'],
    ['?code=2474ab', 'is a URL, with the code in its parameter "code"'],
    ['code=2474ab&state=x', 'is a URL, with the code in its parameter "code"'],
    ['localhost:3000/?state=x&code=2474ab#top', 'is a URL, with the code in its parameter "code"'],
    ['"code": "2474ab",', 'has a delimiter after it'],
  ])('is found, and printed as the command to paste: %s', async (text, says) => {
    const { status, stderr } = await run(() => ['read', text, 'mobile']);
    expect([status, platform.requests, stderr]).toEqual([2, [], expect.stringContaining(`the code ${says}`)]);
    expect(stderr).toContain('\n  userinfo read 2474ab mobile\n');
  });
});

it.each(['code', 'your_code', 'MY-CODE', 'the_authcode'])('%s is a word for a code', async (text) => {
  const { status, stderr } = await run(() => ['read', text]);
  expect([status, platform.requests, stderr]).toEqual([2, [], expect.stringMatching('word for a code')]);
});

it('a text without what was pasted has no fault', () => {
  const around = fc.constantFrom(...pasted.map(([, paste]) => paste));
  const kinds = ['code', 'user', 'name', 'info', 'setting', 'special', 'mobile', 'pair', 'cell'] as const;
  fc.assert(
    fc.property(
      fc.stringMatching(/^\w{2,20}$/),
      fc.array(around, { maxLength: 3 }),
      fc.constantFrom(...kinds),
      (text, layers, kind) => {
        const given = layers.reduce((inner, paste) => paste(inner), text);
        const { meant = null } = pasteFault(given, kind) ?? {};
        if (meant !== null) expect(pasteFault(meant, kind)).toBe(null);
      },
    ),
  );
});
