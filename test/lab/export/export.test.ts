import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { compileRecipes, type SigningChoice } from '../../../src/core/signing/app-signatures.js';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { algorithms } from '../../../src/core/signing/digest-algorithms.js';
import { textEncodings } from '../../../src/core/signing/encodings.js';
import { defaultRecipes, presets } from '../../../src/core/signing/presets.js';
import {
  paramsSources,
  type Recipe,
  RecipeError,
  type RecipeJson,
  type SigningRecipes,
} from '../../../src/core/signing/recipe.js';
import { formatRecipe, parseRecipe } from '../../../src/core/signing/recipe-json.js';
import type { Param } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import {
  digestNames,
  type LanguageName,
  languageNames,
} from '../../../src/lab/export/digest-names.js';
import {
  exportRule,
  exportTest,
  languages,
  signedRequest,
  testSecret,
} from '../../../src/lab/export/export.js';
import {
  asExported,
  type ExportedCall,
  ExportedFiles,
  ExportedRules,
  isInstalled,
} from '../../support/exported-rules.js';
import { isProgram } from '../../support/programs.js';
import { anyRecipe, anyRequest, anySecret } from '../../support/random-signing.js';
import { vectors } from '../../support/signing-corpus.js';
import { requestOf } from '../../support/signing-requests.js';

/** How many random recipes, and recipes with hostile names, each language runs. */
const count = 100;

const pairOf = (recipes: SigningRecipes) =>
  ({ kind: 'pair', signers: compileRecipes(recipes), recipes }) as const;
const pair = pairOf(defaultRecipes);
/** A pair that signs what a request has besides its parameters. */
const whole = pairOf({
  app_sign: parseRecipe({
    message: ['$method', '$path', '?', '$query', '$body', '$secret'],
    steps: ['sha256', 'slice:0:32'],
  }),
  sign: parseRecipe({
    message: ['$url', '\n', '$endpoint', '\n', '$host', '$params'],
    params: { encode: 'form-python', order: 'sent' },
    steps: ['hmac-md5'],
  }),
});
const one = (recipe: Recipe): SigningChoice => ({
  kind: 'one',
  signer: compileRecipe(recipe),
  recipe,
});
const ruleOf = (json: RecipeJson, language: LanguageName) =>
  exportRule(one(parseRecipe(json)), language, { from: 'a test' });

type Signed = Omit<ExportedCall, 'rule'>;

interface Rule {
  readonly recipe: Recipe;
  readonly calls: readonly Signed[];
}

const randomCalls = (recipe: Recipe) =>
  fc.sample(fc.record({ request: anyRequest, secret: anySecret(recipe) }), 6);
/** A signature that the operator issued. */
const token = parseRecipe({ message: ['token-1'], steps: [] });
/** The digests that the library of a language has, without a key and with one. */
const digestsOf = (language: LanguageName) =>
  algorithms.filter((name) => !Object.values(digestNames[name][language]).includes(null));
const allDigests = (language: LanguageName) => {
  const steps = digestsOf(language).flatMap((name) => [name, `hmac-${name}`]);
  return parseRecipe({ message: ['$params'], steps });
};
/** Places are those of the contract, which the names of random parameters have not. */
const exportedRecipe = anyRecipe.map(
  (recipe): Recipe => ({ ...recipe, params: { ...recipe.params, from: 'both' } }),
);
/** Whether a language has the digests of a recipe. */
const isFor = (language: LanguageName) => {
  const own = digestsOf(language);
  const lacking = algorithms.filter((name) => !own.includes(name));
  return (recipe: Recipe) => !lacking.some((name) => JSON.stringify(recipe).includes(name));
};
/** Random recipes that a language can write. */
const randomFor = (language: LanguageName, recipes = count) =>
  fc.sample(exportedRecipe.filter(isFor(language)), recipes);
/** A list of names that has one twice: its last place counts. */
const repeated: Rule = {
  recipe: parseRecipe({ message: ['$params'], params: { order: ['a', 'b', 'a'] }, steps: ['md5'] }),
  calls: [
    {
      request: requestOf([
        ['a', '1'],
        ['b', '2'],
      ]),
      secret: '',
    },
  ],
};
const withRandomCalls = (recipe: Recipe): Rule => ({ recipe, calls: randomCalls(recipe) });

const inPlaces: readonly Param[] = [
  ['app_key', 'k'],
  ['code', 'c'],
];
const fields: readonly Param[] = [
  ['union_id', '', 'form'],
  ['user_info', '{}', 'form'],
];
/** The parameters of each place, with and without a form. */
const placed: readonly Rule[] = paramsSources.map((from) => ({
  recipe: parseRecipe({ message: ['$params'], params: { from }, steps: ['md5'] }),
  calls: [inPlaces, [...inPlaces, ...fields]].map((params) => ({
    request: requestOf(params),
    secret: '',
  })),
}));

const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
/** Each encoding, of each character of ASCII and of others, in a parameter and in a token. */
const encodings: readonly Rule[] = textEncodings.map((encode) => ({
  recipe: parseRecipe({
    message: ['$params', encode === 'none' ? '$param:v' : `$param:v.${encode}`],
    params: { encode },
    steps: ['md5'],
  }),
  calls: [ascii, '张三 ä\u00a0€😀', ''].map((text) => ({
    request: requestOf([
      [text || 'n', text],
      ['v', text],
    ]),
    secret: '',
  })),
}));

/**
 * What some languages take for a variable in a text, beside a character that is escaped there; a
 * name in another.
 */
const dollars: Rule = {
  recipe: parseRecipe({
    message: ['$params', '\u00011\u00e9$$a{$$a}#{a}%s\n', '$param:k'],
    steps: ['md5'],
  }),
  calls: [{ request: requestOf(Object.entries({ k: 'a-=2&a=1&a', n: '20-10T3' })), secret: '' }],
};

const named = parseRecipe({
  message: ['$param:id', '$params', '$secret'],
  params: { add: { token: '$param:ts' }, empty: 'drop' },
  steps: ['sha256'],
});
/** Values by name; one that is missing is an error. */
const namedValues: readonly (readonly [params: readonly Param[], error?: string])[] = [
  [
    [
      ['id', '7'],
      ['ts', '17'],
    ],
  ],
  [[['id', '7']], 'the parameter ts is missing'],
  [
    [
      ['ID', '7'],
      ['ts', ''],
    ],
    'the parameter id is missing',
  ],
];

/** Code of each language that leaves a file. */
const canary: Readonly<Record<LanguageName, string>> = {
  python: 'open("canary", "w")',
  javascript: 'process.getBuiltinModule("fs").writeFileSync("canary", "");',
  php: 'touch("canary");',
  java: 'static { try { new java.io.File("canary").createNewFile(); } catch (Exception e) {} }',
  go: 'var canary, _ = os.Create("canary")',
  csharp: 'static int canary = System.IO.File.Create("canary").ReadByte();',
};
/** What may end a literal, a comment or a line, and how the rest of the line is hidden. */
const ends = '|\n|\r\n|\u2028|*/|"|\'|"""|\'\'\'|\\|\\"|`|?>|?><?php |%>|${|");|\');'.split('|');
const codings =
  'coding=unicode_escape \\u000a|coding: utf-7 +AAo-|\\u000a|\\u0022;|\\u002a/|\\x22;'.split('|');
const rests = ['', '//', '#', '/*', '"""', '"', "'", '}'];
const tokenName = (text: string) => text.replace(/[{}]/g, '');
const places: Readonly<Record<string, (text: string) => RecipeJson>> = {
  parameter: (text) => ({ message: [`\${param:${tokenName(text)}}`], steps: ['md5'] }),
  excluded: (text) => ({ message: ['$params'], params: { exclude: [text] }, steps: ['md5'] }),
  ordered: (text) => ({ message: ['$params'], params: { order: [text, 'a'] }, steps: ['md5'] }),
  added: (text) => ({ message: ['$params'], params: { add: { [text]: '1' } }, steps: ['md5'] }),
  constant: (text) => ({ message: ['$params', text.replaceAll('$', '$$$$')], steps: ['md5'] }),
  separators: (text) => ({
    message: ['$params'],
    params: { kvSep: text, pairSep: text },
    steps: ['md5'],
  }),
};
const hostileText = (language: LanguageName) =>
  fc
    .tuple(
      fc.constantFrom(...ends, ...codings),
      fc.constantFrom(...ends),
      fc.constantFrom(...rests),
    )
    .map(([start, end, rest]) => `${start}${end}${canary[language]}${rest}`);

/** Recipes whose names and texts would be code if they got out of a literal or a comment. */
function hostileRules(language: LanguageName): Rule[] {
  const rules = fc.record({
    place: fc.constantFrom(...Object.values(places)),
    text: hostileText(language),
  });
  return fc.sample(rules, count).map(({ place, text }): Rule => {
    const recipe = parseRecipe(place(text));
    const own = requestOf([
      [text, text],
      [tokenName(text), '1'],
      ['a', 'b'],
    ]);
    const calls = [{ request: own, secret: text }, ...randomCalls(recipe).slice(0, 1)];
    return { recipe, calls };
  });
}

const groups: Readonly<Record<string, (language: LanguageName) => readonly Rule[]>> = {
  presets: () => presets.map(({ recipe }) => withRandomCalls(recipe)),
  'documented rules': () =>
    vectors.map(({ recipe: json, request, secret }) => {
      const recipe = parseRecipe(json);
      return { recipe, calls: [{ request, secret }, ...randomCalls(recipe).slice(0, 3)] };
    }),
  'values by name': () => [
    {
      recipe: named,
      calls: namedValues.map(([params]) => ({ request: requestOf(params), secret: 's' })),
    },
  ],
  'hostile names': hostileRules,
  'random recipes': (language) => [
    repeated,
    dollars,
    ...placed,
    ...encodings,
    ...[token, allDigests(language), ...randomFor(language)].map(withRandomCalls),
  ],
};

/** Further recipes until each function of the template is in an exported file. */
function helperRules(language: LanguageName, given: readonly Rule[]): Rule[] {
  const unused = new Set(languages[language].templates.rule.split('\n\n'));
  const isNew = (recipe: Recipe) => {
    const parts = exportRule(one(recipe), language, { from: '' }).split('\n\n');
    return parts.filter((part) => unused.delete(part)).length > 0;
  };
  for (const { recipe } of given) isNew(recipe);
  return randomFor(language, 200).filter(isNew).map(withRandomCalls);
}

/** Their texts are UTF-8, which holds no half of a character. */
const ofUtf8: readonly LanguageName[] = ['php', 'go'];

/** As such a language receives it. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(wellFormed))) as T;
}

/** With a URL that ends before its query, which is there by itself. */
function withQuery({ request, ...call }: Signed): Signed {
  const [url = '', ...query] = request.url.split(/[?#]/);
  return { ...call, request: { ...request, url, query: request.query ?? query.join('') } };
}

/** Null where the secret is no key of the recipe. */
function signatureOf(recipe: Recipe, { request, secret }: Signed): string | null {
  try {
    return compileRecipe(recipe).sign(request, new Secret(secret)).digest;
  } catch (error) {
    if (error instanceof RecipeError && error.field === 'key.decode') return null;
    throw error;
  }
}

/**
 * What a program prints for a call: an error that names the value that is missing, or the
 * signature.
 */
function expectedOf(recipe: Recipe, call: Signed): (string | null)[] {
  const signature = signatureOf(recipe, call);
  if (signature === null) return [null];
  const { missing } = compileRecipe(recipe).explain(call.request, new Secret(call.secret));
  return [
    signature,
    ...missing.map((name) => `the parameter ${name.slice('$param:'.length)} is missing`),
  ];
}

describe.each(languageNames)('%s', (name) => {
  const language = languages[name];
  const title = isInstalled(name) ? '' : ` (needs ${name})`;

  it.skipIf(!isInstalled(name))(
    `signs as the recipe does, and does nothing else${title}`,
    { timeout: 600_000 },
    async () => {
      using rules = new ExportedRules(name);
      const calls: (ExportedCall & { readonly recipe: Recipe })[] = [];
      const given = Object.values(groups).flatMap((make) => make(name));
      for (const { recipe, calls: own } of [...given, ...helperRules(name, given)]) {
        const rule = rules.add(recipe);
        const written = ofUtf8.includes(name) ? wellFormed(own) : own;
        calls.push(...written.map((call) => ({ rule, recipe, ...withQuery(call) })));
      }

      const [from = ''] = fc.sample(hostileText(name), 1);
      const signatures = await rules.sign(calls, from);
      expect(existsSync(join(rules.folder, 'canary'))).toBe(false);
      expect(signatures).toHaveLength(calls.length);
      const wrong = calls.flatMap(({ recipe, rule: _, ...call }, index) => {
        const [signature, ...errors] = expectedOf(recipe, call);
        const printed = signatures[index];
        const isRight =
          printed instanceof Error
            ? signature === null ||
              errors.some((error) => error !== null && printed.message.includes(error))
            : printed === signature;
        const found = { recipe: formatRecipe(recipe), ...call, signature, printed: `${printed}` };
        return isRight ? [] : [JSON.stringify(found)];
      });
      expect({ wrong: wrong.length, examples: wrong.slice(0, 3) }).toEqual({
        wrong: 0,
        examples: [],
      });

      const byName = signatures.filter((_, index) => calls[index]?.recipe === named);
      const required = namedValues.map(([params, error]) =>
        error === undefined
          ? signatureOf(named, { request: requestOf(params), secret: 's' })
          : expect.objectContaining({ message: expect.stringContaining(error) }),
      );
      expect(byName).toEqual(required);
    },
  );

  describe.skipIf(!isInstalled(name))(`its files${title}`, () => {
    let files: ExportedFiles;
    let linted: Awaited<ReturnType<ExportedFiles['lint']>>;

    beforeAll(async () => {
      files = new ExportedFiles(name);
      const add = (folder: string, signing: SigningChoice, change = (code: string) => code) => {
        const [rule, test] = [exportRule, exportTest].map((make) =>
          make(signing, name, { from: 'a test' }),
        );
        files.add(folder, change(rule ?? ''), test ?? '');
      };
      files.add('template', language.templates.rule, language.templates.test);
      add(asExported, pair);
      add('one', one(named));
      add('whole', whole);
      add('changed', pair, (code) => code.replace(/&key=(?=['"])/g, '&kez='));
      linted = await files.lint();
    }, 600_000);
    afterAll(() => files[Symbol.dispose]());

    it('have no remark of the linter', () => {
      expect(linted).toMatchObject({ status: 0 });
    });

    it('have a test that succeeds, but fails for a rule that was changed', async () => {
      for (const folder of [asExported, 'one', 'whole']) {
        expect(await files.test(folder)).toMatchObject({ status: 0 });
      }
      const changed = await files.test('changed');
      expect(changed.status).not.toBe(0);
      expect(changed.stdout + changed.stderr).toContain('app_sign: names that begin alike');
    });

    it('have a signed_request that makes time and nonce, signs, and writes URL and body', async () => {
      const before = Math.floor(Date.now() / 1000);
      const sent = await files.call();
      const after = Math.floor(Date.now() / 1000);
      const query = [...new URL(sent.url).searchParams];
      const names = ['tenant_code', 'app_key', 'random', 'timestamp', 'app_sign', 'sign'];
      expect(query.map(([name]) => name)).toEqual(names);
      const { random, timestamp } = Object.fromEntries(query);
      expect(random).toMatch(/^[0-9a-f]{16}$/);
      expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
      expect(Number(timestamp)).toBeLessThanOrEqual(after);
      const fields = [['f', 'c 1/2']] as const;
      const given = signedRequest(pair.signers, 'passback', query.slice(0, 4), fields, 's').sent;
      const url = given.url.replace('https://api.example.com', 'https://h/p');
      expect(sent).toEqual({ ...given, url });
    });
  });

  it('is ASCII in lines that are not too long, without trailing spaces', () => {
    const all = [pair, ...presets.map(({ recipe }) => one(recipe))];
    for (const signing of all) {
      for (const code of [exportRule, exportTest].map((make) =>
        make(signing, name, { from: 'é\n"x"' }),
      )) {
        expect(code).toMatch(/^[\n\t\x20-\x7e]+\n$/);
        expect(code).not.toMatch(/[ \t]\n|\n\n\n\n/);
        expect(code.split('\n').filter((line) => line.length > 180)).toEqual([]);
      }
    }
  });
});

it.each(languageNames)('no helper is in %s that the rule does not use', (name) => {
  const code = ruleOf({ message: ['$param:a', '$secret'], steps: ['md5'] }, name);
  expect(code).not.toMatch(/sort|base64|regex|hmac|lower\(/i);
});

it.skipIf(!isProgram('flake8'))(
  `flake8 has no remark${isProgram('flake8') ? '' : ' (needs flake8)'}`,
  { timeout: 600_000 },
  async () => {
    const { rule, test } = languages.python.templates;
    using files = new ExportedFiles('python');
    files.add('template', rule, test);
    const write = (file: string, code: string) => writeFileSync(join(files.folder, file), code);
    for (const [index, signing] of [
      pair,
      ...[named, ...presets.map(({ recipe }) => recipe)].map(one),
    ].entries()) {
      write(`rule${index}.py`, exportRule(signing, 'python', { from: 'a test' }));
      write(`test${index}.py`, exportTest(signing, 'python', { from: 'a test' }));
    }
    for (const [index, recipe] of randomFor('python').entries()) {
      write(`random${index}.py`, exportRule(one(recipe), 'python', { from: 'a test' }));
    }
    expect(await files.run('flake8 .')).toMatchObject({ status: 0, stdout: '' });
  },
);

describe('the header', () => {
  const rule = one(parseRecipe({ params: { kvSep: '?>' }, message: ['$params'], steps: ['md5'] }));

  it.each(languageNames)('has the origin: %s', (name) => {
    const code = exportRule(rule, name, { from: 'the file "rule-1.json"' });
    expect(code).toContain(
      ' The signing rule of the file "rule-1.json", written by "userinfo sign export".',
    );
    expect(code).not.toContain('rules fit');
  });

  it('of Python begins with its encoding', () => {
    for (const make of [exportRule, exportTest]) {
      const code = make(rule, 'python', { from: 'coding=utf-7, coding: utf-8' });
      expect(code).toMatch(/^# coding: ascii\n# The signing rule of coding_utf-7_ coding_ utf-8, /);
    }
  });

  it('has no line and no mark of what it comes from', () => {
    for (const name of languageNames) {
      for (const from of fc.sample(hostileText(name), 100)) {
        const [header = '', ...others] = exportRule(rule, name, { from })
          .split('\n')
          .filter((line) => line.includes('The signing rule of'));
        expect(header).toMatch(/^(?:\/\/|#) The signing rule of [\w ."-]*, written by "userinfo /);
        expect(others).toEqual([]);
      }
    }
  });

  it('says that another rule may be the right one', () => {
    const code = exportRule(rule, 'go', { from: 'a search by samples', fits: 31 });
    expect(code).toContain('// 31 rules fit the samples, and this is the likeliest');
  });
});

it.each(languageNames)('a module is refused: %s', (name) => {
  const module: SigningChoice = { ...pair, recipes: { ...defaultRecipes, sign: null } };
  for (const make of [exportRule, exportTest]) {
    expect(() => make(module, name, { from: '' })).toThrow('sign: is signed by a module');
  }
});

test('all secrets in a test are the throw-away one', () => {
  for (const name of languageNames) {
    const code = exportTest(pair, name, { from: 'a test' });
    const cases = 2 * 10 + 2;
    expect(code.split(testSecret)).toHaveLength(cases + 1);
    expect(exportRule(pair, name, { from: 'a test' })).not.toContain(testSecret);
  }
});
