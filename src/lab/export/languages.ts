import csharpRule from './csharp/Signature.cs?raw';
import csharpTest from './csharp/SignatureTest.cs?raw';
import type { LanguageName } from './digest-names.js';
import goRule from './go/signature.go?raw';
import goTest from './go/signature_test.go?raw';
import javaRule from './java/Signature.java?raw';
import javaTest from './java/SignatureTest.java?raw';
import javascriptRule from './javascript/signature.mjs?raw';
import javascriptTest from './javascript/signature.test.mjs?raw';
import { group, type SourceCode } from './layout.js';
import phpRule from './php/signature.php?raw';
import phpTest from './php/signature_test.php?raw';
import pythonRule from './python/signature.py?raw';
import pythonTest from './python/test_signature.py?raw';
import type { Statement } from './statements.js';

/** A language that rules are exported to: what its templates leave open. Its files are ASCII. */
export interface Language {
  /** Name and oldest version, for people. */
  readonly title: string;
  readonly files: { readonly rule: string; readonly test: string };
  readonly run: string;
  /** Real files of the language: its linters pass them as they stand. */
  readonly templates: { readonly rule: string; readonly test: string };
  readonly comment: string;
  readonly indent: string;
  readonly width: number;
  /** Empty lines between functions. */
  readonly gap: number;
  readonly functionName: (name: string) => string;
  /** Of those that others call. */
  readonly publicName: (name: string) => string;
  readonly variableName: (name: string) => string;
  readonly literal: (text: string) => string;
  readonly plus: string;
  /** Between the literals of a long text, if its formatter has another way there. */
  readonly plusOfLiterals?: string;
  /** Around a sum in several lines, if the language wants it. */
  readonly sumBrackets?: Brackets;
  /** After the last of items that have lines of their own. */
  readonly lastComma: '' | ',';
  readonly lists: Readonly<Record<'texts' | 'rows' | 'row' | 'bytes', Brackets>>;
  /** What a rule is given for the body of a request without one. */
  readonly nothing: string;
  /** Each statement by what it sets; `NAME` and `VALUE` are filled in. */
  readonly statements: Readonly<Record<Statement['set'], string>>;
  /** What names a digest and an HMAC; `NAME` is that of `digestNames`. */
  readonly algorithms: Readonly<Record<'digest' | 'hmac', string>>;
  /** A call of a rule in a test. */
  readonly rule: string;
  /** Whether a rule takes all but the secret as one object, of which it names what it uses. */
  readonly takesObject?: boolean;
  readonly check: (title: SourceCode, call: SourceCode, expected: SourceCode) => SourceCode;
  /** The body of a request without a form. */
  readonly noForm: string;
  readonly checkRequest: (
    title: SourceCode,
    call: SourceCode,
    expected: readonly SourceCode[],
  ) => SourceCode;
}

type Brackets = readonly [open: string, close: string];

/** What most languages have in common. */
const usual = {
  comment: '//',
  indent: '    ',
  width: 116,
  gap: 1,
  functionName: camelCase,
  publicName: camelCase,
  variableName: camelCase,
  plus: ' + ',
  lastComma: '',
  nothing: 'null',
  noForm: '""',
} as const;

const squareBrackets: Language['lists'] = {
  texts: ['[', ']'],
  rows: ['[', ']'],
  row: ['[', ']'],
  bytes: ['[', ']'],
};

/** The statements of a language that sets every variable alike. */
function statements(
  set: string,
  ofPair: string,
  signature = 'return VALUE;',
): Language['statements'] {
  return {
    text: set,
    bytes: set,
    pairs: set,
    'function of pair': ofPair,
    signature,
  };
}

export const languages: Readonly<Record<LanguageName, Language>> = {
  python: {
    ...usual,
    title: 'Python 3.8 or later',
    files: { rule: 'signature.py', test: 'test_signature.py' },
    run: 'python3 -m unittest test_signature',
    templates: { rule: pythonRule, test: pythonTest },
    comment: '#',
    width: 79,
    gap: 2,
    functionName: asItIs,
    publicName: asItIs,
    variableName: asItIs,
    literal: (text) => quoted(text, (code) => escapeOfPoint(code, 0x100)),
    sumBrackets: ['(', ')'],
    lastComma: ',',
    lists: { ...squareBrackets, row: ['(', ')'] },
    nothing: 'None',
    statements: statements(
      'NAME = VALUE',
      '\ndef NAME(name: str, value: str) -> str:\n    return VALUE\n',
      'return VALUE',
    ),
    algorithms: { digest: '"NAME"', hmac: '"NAME"' },
    rule: 'signature.NAME(',
    check: (...values) => group('self.check(', values, ')', { last: ',' }),
    noForm: 'None',
    checkRequest: (title, call, expected) =>
      group('self.check_request(', [title, call, ...expected], ')', { last: ',' }),
  },
  php: {
    ...usual,
    title: 'PHP 8.0 or later',
    files: { rule: 'signature.php', test: 'signature_test.php' },
    run: 'php signature_test.php',
    templates: { rule: phpRule, test: phpTest },
    functionName: asItIs,
    publicName: asItIs,
    variableName: (name) => `$${name}`,
    literal: phpLiteral,
    plus: ' . ',
    lists: squareBrackets,
    statements: statements(
      'NAME = VALUE;',
      'NAME = fn (string $name, string $value): string => VALUE;',
    ),
    algorithms: { digest: "'NAME'", hmac: "'NAME'" },
    rule: 'NAME(',
    check: (...values) => group('$check(', values, ');'),
    noForm: "''",
    checkRequest: (title, call, expected) =>
      group('$check_request(', [title, call, ...expected], ');'),
  },
  java: {
    ...usual,
    title: 'Java 17 or later',
    files: { rule: 'Signature.java', test: 'SignatureTest.java' },
    run: 'javac -d . Signature.java SignatureTest.java && java signing.SignatureTest',
    templates: { rule: javaRule, test: javaTest },
    literal: (text) => quoted(text, javaEscape),
    lists: {
      texts: ['List.of(', ')'],
      rows: ['List.of(', ')'],
      row: ['Map.entry(', ')'],
      bytes: ['List.of(', ')'],
    },
    statements: {
      text: 'String NAME = VALUE;',
      bytes: 'byte[] NAME = VALUE;',
      pairs: 'List<Map.Entry<String, String>> NAME = VALUE;',
      'function of pair': 'BinaryOperator<String> NAME = (name, value) -> VALUE;',
      signature: 'return VALUE;',
    },
    algorithms: { digest: '"NAME"', hmac: '"NAME"' },
    rule: 'Signature.NAME(',
    check: (...values) => group('check(', values, ');'),
    checkRequest: (title, call, expected) =>
      group('checkRequest(', [title, call, ...expected], ');'),
  },
  go: {
    ...usual,
    title: 'Go 1.18 or later',
    files: { rule: 'signature.go', test: 'signature_test.go' },
    run: 'go test signature.go signature_test.go',
    templates: { rule: goRule, test: goTest },
    indent: '\t',
    plusOfLiterals: '+',
    publicName: pascalCase,
    literal: (text) => quoted(text, (code) => escapeOfPoint(code, 0x80)),
    lastComma: ',',
    lists: {
      texts: ['[]string{', '}'],
      rows: ['[][2]string{', '}'],
      row: ['{', '}'],
      bytes: ['[][]byte{', '}'],
    },
    nothing: '""',
    statements: statements(
      'NAME := VALUE',
      'NAME := func(name, value string) string {\n\treturn VALUE\n}',
      'return VALUE, nil',
    ),
    algorithms: { digest: 'NAME', hmac: 'NAME' },
    rule: 'NAME(',
    checkRequest: (title, call, expected) => [
      group('checkRequest(', ['t', title, ...expected], ')(', { last: ',' }),
      call,
      ')',
    ],
    check: (title, call, expected) => [
      group('check(', ['t', title, expected], ')(', { last: ',' }),
      call,
      ')',
    ],
  },
  javascript: {
    ...usual,
    title: 'JavaScript for Node.js 20 or later',
    files: { rule: 'signature.mjs', test: 'signature.test.mjs' },
    run: 'node --test signature.test.mjs',
    templates: { rule: javascriptRule, test: javascriptTest },
    indent: '  ',
    width: 110,
    literal: (text) => quoted(text, utf16Escape).replace(/^"((?:[^'"\\]|\\[^'"])*)"$/, "'$1'"),
    lastComma: ',',
    // Written as a name, __proto__ would be none.
    lists: { ...squareBrackets },
    statements: statements('const NAME = VALUE;', 'const NAME = (name, value) => VALUE;'),
    algorithms: { digest: "'NAME'", hmac: "'NAME'" },
    rule: 'signature.NAME(',
    takesObject: true,
    check: (...values) => group('check(', values, ');', { last: ',' }),
    noForm: 'null',
    checkRequest: (title, call, expected) =>
      group('checkRequest(', [title, call, ...expected], ');', { last: ',' }),
  },
  csharp: {
    ...usual,
    title: 'C# 7 or later',
    files: { rule: 'Signature.cs', test: 'SignatureTest.cs' },
    run: 'mcs -out:SignatureTest.exe Signature.cs SignatureTest.cs && mono SignatureTest.exe',
    templates: { rule: csharpRule, test: csharpTest },
    functionName: pascalCase,
    publicName: pascalCase,
    variableName: (name) => (name === 'params' ? 'parameters' : camelCase(name)),
    literal: (text) => quoted(text, utf16Escape),
    lists: {
      texts: ['new string[] { ', ' }'],
      rows: ['new KeyValuePair<string, string>[] { ', ' }'],
      row: ['new KeyValuePair<string, string>(', ')'],
      bytes: ['new byte[][] { ', ' }'],
    },
    statements: statements(
      'var NAME = VALUE;',
      'Func<string, string, string> NAME = (name, value) => VALUE;',
    ),
    algorithms: { digest: 'NAME.Create()', hmac: 'new NAME()' },
    rule: 'Signature.NAME(',
    check: (...values) => group('Check(', values, ');'),
    checkRequest: (title, call, expected) =>
      group('CheckRequest(', [title, call, ...expected], ');'),
  },
};

function asItIs(name: string): string {
  return name;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function pascalCase(name: string): string {
  return camelCase(`_${name}`);
}

/** A text in double quotes; `write` is for a code point that is not printable ASCII. */
function quoted(text: string, write: (code: number) => string, special = '\\"'): string {
  const parts = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (special.includes(character)) return `\\${character}`;
    if (character === '\n') return '\\n';
    if (code >= 0x20 && code < 0x7f) return character;
    return write(code);
  });
  return `"${parts.join('')}"`;
}

function phpLiteral(text: string): string {
  if (/^[ -~]*$/.test(text)) return `'${text.replace(/[\\']/g, '\\$&')}'`;
  return quoted(text, phpEscape, '\\"$');
}

function phpEscape(code: number): string {
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return `\\u{${hex(code, 1)}}`;
}

/** Control characters as octal: Java reads \u000d before it reads the literal. */
function javaEscape(code: number): string {
  if (code < 0x20) return `\\${code.toString(8).padStart(3, '0')}`;
  return utf16Escape(code);
}

/** A code point beyond the first plane is two units. */
function utf16Escape(code: number): string {
  return String.fromCodePoint(code)
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('');
}

/** A code point as Python and Go escape it: in two digits below `wide`, else in four or eight. */
function escapeOfPoint(code: number, wide: number): string {
  if (code < wide) return `\\x${hex(code, 2)}`;
  if (code < 0x10000) return `\\u${hex(code, 4)}`;
  return `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
