import {
  aboutUrl,
  bare,
  camelCase,
  type Language,
  quoted,
  receiver,
  utf16Escape,
  type WrapStyle,
  Writer,
  wrapped,
} from './language.js';
import type { Expression, Operation, PairSelection, TextOperation } from './operations.js';

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

const encodings = { form: 'form', 'form-dotnet': 'formDotnet', rfc3986: 'rfc3986' } as const;

class JavaScriptWriter extends Writer {
  override helperName = camelCase;

  literal = literal;

  input(name: 'method' | 'url' | 'body' | 'secret'): string {
    return name === 'body' ? "(body ?? '')" : name;
  }

  search(): string {
    return "(query === '' ? '' : '?' + query)";
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${isIn ? '' : '!'}${list}.includes(${name})`;
  }

  startsWith(name: string, prefix: string): string {
    return `${name}.startsWith(${prefix})`;
  }

  extra(name: string): string {
    const value = `extra[${literal(name)}]`;
    // Every object has a constructor.
    if (name in {}) return `(Object.hasOwn(extra, ${literal(name)}) ? ${value} : '')`;
    return `(${value} ?? '')`;
  }

  join(parts: readonly string[]): string {
    return parts.join(' + ');
  }

  joinBytes(parts: readonly string[]): string {
    return `Buffer.concat([${parts.join(', ')}])`;
  }

  utf8(text: string): string {
    return `Buffer.from(${bare(text)})`;
  }

  pairs(each: string, separator: string): string {
    return `pairs.map(([name, value]) => ${each}).join(${separator})`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    const pattern = table.map(([from]) => from.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
    const entries = table.map((row) => `[${row.map(literal).join(', ')}]`).join(', ');
    return `${text}.replace(new RegExp(${literal(pattern)}, 'g'), (found) => new Map([${entries}]).get(found))`;
  }

  change(text: string, change: TextOperation): string {
    if (change === 'upper') return `${receiver(text)}.toUpperCase()`;
    if (change === 'lower') return `${receiver(text)}.toLowerCase()`;
    if (change === 'base64') return `Buffer.from(${bare(text)}).toString('base64')`;
    if (change === 'json') return `JSON.stringify(${bare(text)})`;
    if (change === 'reverse') return `[...${receiver(text)}].reverse().join('')`;
    return this.call(encodings[change], text);
  }

  slice(text: string, from: number, to: number): string {
    return `${receiver(text)}.slice(${from}, ${to})`;
  }

  decode(text: string, decoding: 'hex' | 'base64'): string {
    return this.call(decoding === 'hex' ? 'fromHex' : 'fromBase64', text);
  }

  digest(
    data: string,
    key: string | null,
    { algorithm, format }: Extract<Expression, { is: 'digest' }>,
  ): string {
    const of = data.replace(/^Buffer\.from\(([^()]*)\)$/, '$1');
    const hash = key === null ? `createHash('${algorithm}')` : `createHmac('${algorithm}', ${key})`;
    const digest = (written: string) => `${hash}.update(${of}).digest(${written})`;
    switch (format) {
      case 'raw':
        return digest('');
      case 'HEX':
        return `${digest("'hex'")}.toUpperCase()`;
      case 'base64-of-hex':
        return `Buffer.from(${digest("'hex'")}).toString('base64')`;
      default:
        return digest(`'${format}'`);
    }
  }

  operation(operation: Operation): string[] {
    if (operation.set === 'pairs') return this.#select(operation);
    if (operation.set === 'query') {
      return ["const query = url.split('?').slice(1).join('?');", "url = url.split('?')[0];"];
    }
    const value = this.expression(operation.value);
    if (operation.set === 'write') return [`const write = (text) => ${value};`];
    return [
      operation.variable === 'signature'
        ? `return ${bare(value)};`
        : `const ${operation.variable} = ${bare(value)};`,
    ];
  }

  #select(selection: PairSelection): string[] {
    const { nameCase, dropsEmpty, joinRepeated, add, order } = selection;
    const fold = { none: '', lower: 'toLowerCase', upper: 'toUpperCase' }[nameCase];
    const fixed = order !== null && !('key' in order) ? order : null;
    const conditions = [
      ...this.conditions(selection, 'name', (names) => `[${names.map(literal).join(', ')}]`),
      ...(dropsEmpty ? ["value !== ''"] : []),
    ];
    const parameters = conditions.some((condition) => condition.startsWith('value'))
      ? '[name, value]'
      : '[name]';
    const selected = [
      'params',
      fold === '' ? '' : `.map(([name, value]) => [name.${fold}(), value])`,
      conditions.length === 0 ? '' : `.filter((${parameters}) => ${conditions.join(' && ')})`,
    ].join('');
    const joined =
      joinRepeated === null ? selected : this.call('joinRepeated', selected, literal(joinRepeated));
    const added = add.map(({ name, value, isOptional }) => {
      const pair = `[${literal(name)}, ${bare(this.expression(value))}]`;
      return isOptional ? `...(${this.expression(value)} === '' ? [] : [${pair}])` : pair;
    });
    const all = added.length === 0 ? joined : `[...${joined}, ${added.join(', ')}]`;
    if (order === null) return [`const pairs = ${all};`];
    return [
      ...(fixed === null ? [] : [`const order = [${fixed.map(literal).join(', ')}];`]),
      `const pairs = ${all === 'params' ? '[...params]' : all};`,
      `pairs.sort((a, b) => ${this.#compare(order)});`,
    ];
  }

  #compare(order: NonNullable<PairSelection['order']>): string {
    if (!('key' in order)) return 'order.indexOf(a[0]) - order.indexOf(b[0])';
    const key = (pair: string) => this.expression(order.key, { name: `${pair}[0]`, value: `${pair}[1]` });
    return this.call('compare', key('a'), key('b'));
  }
}

const testStyle: WrapStyle = { indent: '  ', chains: false, depth: 1 };

export const javascript: Language = {
  title: 'JavaScript for Node.js 20 or later',
  files: { rule: 'signature.mjs', test: 'signature.test.mjs' },
  run: 'node --test signature.test.mjs',
  comment: '//',
  hasSurrogates: true,
  rule(rules, header) {
    const writer = new JavaScriptWriter(helpers);
    const functions = rules.map((rule) => {
      const { name, operations } = rule;
      return [
        `/** params: [name, value] pairs, decoded, in the order of the request, without ${name}.${aboutUrl(rule)} */`,
        `export function ${camelCase(name)}(method, url, params, body, extra, secret) {`,
        ...writer.body(operations, { indent: '  ', chains: true, depth: 0 }),
        '}',
      ].join('\n');
    });
    const code = [...functions, ...writer.helpers()].join('\n\n');
    const used = ['createHash', 'createHmac'].filter((name) => code.includes(`${name}(`));
    return `${header}\nimport { ${used.join(', ')} } from 'node:crypto';\n\n${code}\n`;
  },
  test(cases, header) {
    const rules = [...new Set(cases.map(({ rule }) => camelCase(rule)))];
    const rows = cases.map(({ rule, name, request, secret, signature }) => {
      const { method, url, params, body, extra } = request;
      const pairs = params.map((pair) => `[${pair.map(literal).join(', ')}]`);
      const extras = Object.entries(extra).map((entry) => entry.map(literal).join(': '));
      const given = `${literal(method)}, ${literal(url)}, [${pairs.join(', ')}], ${body === null ? 'null' : literal(body)}`;
      const call = `${camelCase(rule)}(${given}, {${extras.join(', ')}}, ${literal(secret)})`;
      const equal = wrapped(`  assert.equal(${call}, ${literal(signature)});`, testStyle);
      return [`test(${literal(`${rule}: ${name}`)}, () => {`, ...equal, '});'].join('\n');
    });
    return `${header}
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ${rules.join(', ')} } from './signature.mjs';

${rows.join('\n\n')}
`;
  },
};
