import type { Algorithm } from '../digest-algorithms.js';
import { escapePattern } from '../encodings.js';
import type { TextOperation } from './expression.js';
import { camelCase, type DigestFormat, type ExportedCase, type Language, Writer } from './language.js';
import { bare, receiver } from './layout.js';
import { quoted, utf16Escape } from './literals.js';
import type { PairSelection } from './operations.js';

const helpers = {
  percent: `
function percent(character) {
  return '%' + character.charCodeAt(0).toString(16).toUpperCase();
}`,
  form: `
function form(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()~]/g, percent).replaceAll('%20', '+');
}`,
  formDotnet: `
function formDotnet(text) {
  const escaped = encodeURIComponent(text.toWellFormed()).replace(/['~]/g, percent);
  return escaped.replace(/%../g, (found) => found.toLowerCase()).replaceAll('%20', '+');
}`,
  rfc3986: `
function rfc3986(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, percent);
}`,
  fromHex: String.raw`
function fromHex(text) {
  if (!/^(?:[\da-f]{2})*$/i.test(text)) throw new Error('the key is not hex');
  return Buffer.from(text, 'hex');
}`,
  fromBase64: String.raw`
function fromBase64(text) {
  if (!/^(?:[\w+/-]{4})*(?:[\w+/-]{2,3})?={0,2}$/.test(text)) throw new Error('the key is not base64');
  return Buffer.from(text, 'base64');
}`,
  first: `
function first(params, wanted) {
  return params.find(([name]) => name === wanted)?.[1] ?? '';
}`,
  host: String.raw`
function host(url) {
  return /^[a-z][a-z\d+.-]*:\/\/([^/]*)/i.exec(url)?.[1] ?? '';
}`,
  path: String.raw`
function path(url) {
  const found = /^[a-z][a-z\d+.-]*:\/\/[^/]*(.*)$/is.exec(url);
  return found === null ? url : found[1] || '/';
}`,
  withoutPrefix: `
function withoutPrefix(text, prefix) {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}`,
  joinRepeated: `
function joinRepeated(pairs, separator) {
  const values = new Map();
  for (const [name, value] of pairs) {
    values.set(name, values.has(name) ? values.get(name) + separator + value : value);
  }
  return [...values];
}`,
  compare: `
/** Compares texts by UTF-16 code unit. */
function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}`,
};

function literal(text: string): string {
  return quoted(text, utf16Escape).replace(/^"((?:[^'"\\]|\\[^'"])*)"$/, "'$1'");
}

class JavaScriptWriter extends Writer {
  readonly helpers = helpers;
  override helperName = camelCase;
  override style = { indent: '  ', chains: true, depth: 0 };
  literal = literal;
  body = "(body ?? '')";
  search = "(query === '' ? '' : '?' + query)";

  file(functions: readonly string[], used: readonly string[], header: string): string {
    const code = [...functions, ...used].join('\n\n');
    const imports = ['createHash', 'createHmac'].filter((name) => code.includes(`${name}(`));
    return `${header}\nimport { ${imports.join(', ')} } from 'node:crypto';\n\n${code}\n`;
  }

  function(name: string, aboutUrl: string, body: readonly string[]): string[] {
    return [
      `/** params: [name, value] pairs, decoded, in the order of the request, without ${name}.${aboutUrl} */`,
      `export function ${camelCase(name)}(method, url, params, body, extra, secret) {`,
      ...body,
      '}',
    ];
  }

  takeQuery(): string[] {
    return ["const query = url.split('?').slice(1).join('?');", "url = url.split('?')[0];"];
  }

  defineWrite(value: string): string[] {
    return [`const write = (text) => ${value};`];
  }

  override assign(name: string, value: string): string {
    return `const ${name} = ${value};`;
  }

  select(selection: PairSelection): string[] {
    const { nameCase, dropsEmpty, add } = selection;
    const fold = { none: '', lower: 'toLowerCase', upper: 'toUpperCase' }[nameCase];
    const conditions = this.conditions(selection);
    const selected = [
      'params',
      fold === '' ? '' : `.map(([name, value]) => [name.${fold}(), value])`,
      conditions.length === 0
        ? ''
        : `.filter((${dropsEmpty ? '[name, value]' : '[name]'}) => ${conditions.join(' && ')})`,
    ].join('');
    const joined = this.joined(selected, selection);
    const added = add.map(({ name, value, isOptional }) => {
      const pair = `[${literal(name)}, ${bare(this.expression(value))}]`;
      return isOptional ? `...(${this.expression(value)} === '' ? [] : [${pair}])` : pair;
    });
    const all = added.length === 0 ? joined : `[...${joined}, ${added.join(', ')}]`;
    const compare = this.#compare(selection);
    if (compare === null) return [`const pairs = ${all};`];
    return [`const pairs = ${all === 'params' ? '[...params]' : all};`, `pairs.sort((a, b) => ${compare});`];
  }

  /** `null` for the request order. */
  #compare({ order, sortKey }: PairSelection): string | null {
    if (order !== null) return 'order.indexOf(a[0]) - order.indexOf(b[0])';
    if (sortKey === null) return null;
    const key = (pair: string) => this.expression(sortKey, { name: `${pair}[0]`, value: `${pair}[1]` });
    return this.call('compare', key('a'), key('b'));
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${isIn ? '' : '!'}${list}.includes(${name})`;
  }

  override isNotEmpty(text: string): string {
    return `${text} !== ''`;
  }

  extra(name: string): string {
    const value = `extra[${literal(name)}]`;
    // Every object has a constructor.
    if (name in {}) return `(Object.hasOwn(extra, ${literal(name)}) ? ${value} : '')`;
    return `(${value} ?? '')`;
  }

  override joinBytes(parts: readonly string[]): string {
    return `Buffer.concat([${parts.join(', ')}])`;
  }

  override utf8(text: string): string {
    return `Buffer.from(${bare(text)})`;
  }

  pairs(each: string, separator: string): string {
    return `pairs.map(([name, value]) => ${each}).join(${separator})`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    const pattern = table.map(([from]) => escapePattern(from)).join('|');
    const entries = table.map((row) => `[${row.map(literal).join(', ')}]`).join(', ');
    return `${text}.replace(new RegExp(${literal(pattern)}, 'g'), (found) => new Map([${entries}]).get(found))`;
  }

  override change(text: string, change: TextOperation, isAscii: boolean): string {
    switch (change) {
      case 'upper':
        return `${receiver(text)}.toUpperCase()`;
      case 'lower':
        return `${receiver(text)}.toLowerCase()`;
      case 'base64':
        return `Buffer.from(${bare(text)}).toString('base64')`;
      case 'json':
        return `JSON.stringify(${bare(text)})`;
      case 'reverse':
        return `[...${receiver(text)}].reverse().join('')`;
      default:
        return super.change(text, change, isAscii);
    }
  }

  override slice(text: string, from: number, to: number): string {
    return `${receiver(text)}.slice(${from}, ${to})`;
  }

  digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string {
    const of = data.replace(/^Buffer\.from\(([^()]*)\)$/, '$1');
    const hash = key === null ? `createHash('${algorithm}')` : `createHmac('${algorithm}', ${key})`;
    return `${hash}.update(${of}).digest(${format === 'raw' ? '' : `'${format}'`})`;
  }

  test(cases: readonly ExportedCase[], header: string): string {
    const rules = [...new Set(cases.map(({ rule }) => camelCase(rule)))];
    const tests = cases.map(({ rule, title, method, url, params, body, extra, secret, signature }) => {
      const pairs = params.map((pair) => `[${pair.join(', ')}]`).join(', ');
      const extras = extra.map((entry) => entry.join(': ')).join(', ');
      const call = `${camelCase(rule)}(${method}, ${url}, [${pairs}], ${body ?? 'null'}, {${extras}}, ${secret})`;
      const equal = this.testLines(`  assert.equal(${call}, ${signature});`);
      return [`test(${title}, () => {`, ...equal, '});'].join('\n');
    });
    return `${header}
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${rules.join(', ')} } from './signature.mjs';

${tests.join('\n\n')}
`;
  }
}

export const javascript: Language = {
  title: 'JavaScript for Node.js 20 or later',
  files: { rule: 'signature.mjs', test: 'signature.test.mjs' },
  run: 'node --test signature.test.mjs',
  comment: '//',
  hasSurrogates: true,
  writer: () => new JavaScriptWriter(),
};
