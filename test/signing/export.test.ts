import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compileRecipes, type SigningChoice } from '../../src/signing/app-signatures.js';
import { compileRecipe } from '../../src/signing/compile-recipe.js';
import { type LanguageName, languageNames } from '../../src/signing/digest-algorithms.js';
import { exportRule, exportTest, languages } from '../../src/signing/export/export.js';
import { defaultRecipes, presets } from '../../src/signing/presets.js';
import { type Recipe, RecipeError, type RecipeJson } from '../../src/signing/recipe.js';
import { formatRecipe, parseRecipe } from '../../src/signing/recipe-json.js';
import { Secret } from '../../src/signing/secret.js';
import { vectorSecret } from '../../src/signing/vectors.js';
import { type ExportedCall, ExportedRules, isInstalled, runProgram } from '../support/exported-rules.js';
import { anyRecipe, anyRequest, anySecret } from '../support/random-signing.js';
import { vectors } from '../support/signing-corpus.js';
import { requestOf } from '../support/signing-requests.js';

const names = languageNames;
/** The others have to be installed, and to compile takes them a minute: `USERINFO_TEST_EXPORT=all`. */
const always: readonly LanguageName[] = ['javascript', 'python'];
const isForAll = process.env.USERINFO_TEST_EXPORT === 'all';
const tested = isForAll ? names : always;

const pair: SigningChoice = {
  kind: 'pair',
  signers: compileRecipes(defaultRecipes),
  recipes: defaultRecipes,
};
const one = (recipe: Recipe): SigningChoice => ({ kind: 'one', signer: compileRecipe(recipe), recipe });
const ruleOf = (json: RecipeJson, language: LanguageName) =>
  exportRule(one(parseRecipe(json)), language, { from: 'a test' });

type Signed = Omit<ExportedCall, 'module' | 'usesQuery'>;

interface Rule {
  readonly recipe: Recipe;
  readonly calls: readonly Signed[];
}

const randomCalls = (recipe: Recipe) =>
  fc.sample(fc.record({ request: anyRequest, secret: anySecret(recipe) }), 6);
/** A signature that the operator issued, and a parameter of the request. */
const token = parseRecipe({ message: ['token-', '$param:b'], steps: ['append:-$method', 'upper'] });
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

const groups: Readonly<Record<string, () => readonly Rule[]>> = {
  presets: () => presets.map(({ recipe }) => withRandomCalls(recipe)),
  corpus: () =>
    vectors.map(({ recipe: json, request, secret }) => {
      const recipe = parseRecipe(json);
      return { recipe, calls: [{ request, secret }, ...randomCalls(recipe)] };
    }),
  'random recipes': () => [repeated, ...[token, ...fc.sample(anyRecipe, 300)].map(withRandomCalls)],
};

/** As a language without unpaired surrogates receives it. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(wellFormed))) as T;
}

/** With a URL that ends before its query. */
function withoutQuery({ request, ...call }: Signed): Signed {
  return { ...call, request: { ...request, url: request.url.replace(/\?.*$/s, '') } };
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

describe.each(tested)('%s', (name) => {
  const language = languages[name];
  const title = isInstalled(name) ? '' : ` (needs ${name})`;

  it.skipIf(!isInstalled(name))(
    `signs as the recipe does: presets, documented rules and random recipes${title}`,
    { timeout: 600_000 },
    async () => {
      using rules = new ExportedRules(name);
      const calls: (ExportedCall & { readonly recipe: Recipe })[] = [];
      const refused: string[] = [];
      const counts = Object.entries(groups).map(([group, make]) => {
        const before = { calls: calls.length, refused: refused.length };
        const made = make();
        for (const rule of made) {
          try {
            const module = rules.add(rule.recipe);
            const given = language.hasSurrogates ? rule.calls : wellFormed(rule.calls);
            const { usesQuery } = compileRecipe(rule.recipe);
            const taken = given.map((call) => (usesQuery ? withoutQuery(call) : call));
            calls.push(...taken.map((call) => ({ module, recipe: rule.recipe, usesQuery, ...call })));
          } catch (error) {
            if (!(error instanceof RecipeError) || group !== 'random recipes') throw error;
            refused.push(error.message);
          }
        }
        const rulesRun = made.length - (refused.length - before.refused);
        return `${group}: ${rulesRun} rules, ${calls.length - before.calls} requests`;
      });
      if (language.hasSurrogates) expect(refused).toEqual([]);
      expect(refused.length).toBeLessThan(60);

      const signatures = await rules.sign(calls);
      expect(signatures).toHaveLength(calls.length);
      const wrong = calls.flatMap(({ recipe, module: _, ...call }, index) => {
        const expected = signatureOf(recipe, call);
        const signature = signatures[index];
        const isRight = expected === null ? signature instanceof Error : signature === expected;
        const found = { recipe: formatRecipe(recipe), ...call, expected, signature: `${signature}` };
        return isRight ? [] : [JSON.stringify(found)];
      });
      expect({ wrong: wrong.length, examples: wrong.slice(0, 3) }).toEqual({ wrong: 0, examples: [] });
      if (isForAll) process.stdout.write(`${name}: ${counts.join('; ')}; ${refused.length} refused\n`);
    },
  );

  /** Runs the exported test as its header says. */
  async function runTest(signing: SigningChoice, change = (code: string) => code): Promise<number | null> {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-exported-'));
    try {
      const { files, run } = language;
      writeFileSync(join(folder, files.rule), change(exportRule(signing, name, { from: 'a test' })));
      writeFileSync(join(folder, files.test), exportTest(signing, name, { from: 'a test' }));
      return (await runProgram('sh', ['-c', run], folder)).status;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it.skipIf(!isInstalled(name))(
    `has a test that succeeds, and fails for a rule that was changed${title}`,
    { timeout: 600_000 },
    async () => {
      expect(await runTest(pair)).toBe(0);
      expect(await runTest(pair, (code) => code.replace(/&key=(?=['"])/g, '&kez='))).not.toBe(0);
      for (const { recipe } of isForAll ? presets : []) expect(await runTest(one(recipe))).toBe(0);
    },
  );

  it('is ASCII in lines that are not too long, without trailing spaces', () => {
    const all = [pair, ...presets.map(({ recipe }) => one(recipe))];
    for (const signing of all) {
      for (const code of [exportRule, exportTest].map((make) => make(signing, name, { from: 'é\n"x"' }))) {
        expect(code).toMatch(/^[\n\t\x20-\x7e]+\n$/);
        expect(code).not.toMatch(/[ \t]\n|\n\n\n\n/);
        expect(code.split('\n').filter((line) => line.length > 170)).toEqual([]);
      }
    }
  });
});

it.each(names)('no helper is in %s that the rule does not use', (name) => {
  const code = ruleOf({ message: ['$param:a', '$secret'], steps: ['md5'] }, name);
  expect(code).not.toMatch(/sort|base64|regex|hmac|lower\(/i);
});

describe('the header', () => {
  const rule = one(parseRecipe({ params: { kvSep: '?>\u2028' }, message: ['$params'], steps: ['md5'] }));

  it('has the origin and the recipe', () => {
    const code = exportRule(rule, 'python', { from: 'the file "x"' });
    expect(code).toContain('# The signing rule of the file "x"');
    expect(code).toContain(
      'sign: {"params":{"kvSep":"?\\u003e\\u2028"},"message":["$params"],"steps":["md5"]}',
    );
    expect(code).not.toContain('rules fit');
  });

  it('says that another rule may be the right one', () => {
    const code = exportRule(rule, 'go', { from: 'a search by samples', fits: 31 });
    expect(code).toContain('// 31 rules fit the samples, and this is the likeliest');
  });

  it('cannot end the comment or the PHP of a file', () => {
    expect(exportRule(rule, 'php', { from: '"?>"' }).split('?>')).toHaveLength(2); // in a literal
  });
});

describe('what a language cannot do is refused by name', () => {
  it.each<[LanguageName, RecipeJson, string]>([
    ['php', { message: ['\ud800'], steps: ['md5'] }, 'sign: has an unpaired surrogate, which a text of PHP'],
    [
      'go',
      { message: ['$params'], params: { escape: { '\udc00': '' } }, steps: ['md5'] },
      'sign: has an unpaired surrogate, which a text of Go',
    ],
    ['php', { message: ['$body'], steps: ['slice:0:3', 'md5'] }, 'sign: a slice of text may cut a character'],
    [
      'go',
      { message: ['$sub'], sub: { message: ['$url'], steps: ['slice:0:3', 'md5'] }, steps: ['md5'] },
      'sign: a slice of text may cut a character',
    ],
  ])('%s: %j', (name, json, problem) => {
    expect(() => ruleOf(json, name)).toThrow(problem);
    expect(() => exportTest(one(parseRecipe(json)), name, { from: '' })).toThrow(problem);
    for (const other of ['python', 'javascript', 'java', 'csharp'] as const) ruleOf(json, other);
  });

  it.each(names)('%s: a module', (name) => {
    const module: SigningChoice = { ...pair, recipes: { ...defaultRecipes, sign: null } };
    for (const make of [exportRule, exportTest]) {
      expect(() => make(module, name, { from: '' })).toThrow('sign: is signed by a module');
    }
  });

  it('but not a backslash and a letter, or a slice of ASCII', () => {
    for (const name of names) {
      ruleOf({ message: ['\\ud800', '$params.base64'], steps: ['slice:0:3', 'md5', 'slice:0:8'] }, name);
    }
  });
});

test('a slice that ends before it begins is empty, also where a language would refuse it', () => {
  for (const name of names) {
    const code = ruleOf({ message: ['abc'], steps: ['md5', 'slice:5:3'] }, name);
    expect(code).toMatch(/\b5(?::|, )[05][)\]];?$/m);
  }
});

test('all secrets in a test are the throw-away one', () => {
  for (const name of names) {
    const code = exportTest(pair, name, { from: 'a test' });
    const cases = 2 * 10;
    expect(code.split(vectorSecret)).toHaveLength(cases + 1);
    expect(exportRule(pair, name, { from: 'a test' })).not.toContain(vectorSecret);
  }
});
