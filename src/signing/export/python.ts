import {
  aboutUrl,
  bare,
  hex,
  type Language,
  outsideLiterals,
  quoted,
  receiver,
  type WrapStyle,
  Writer,
  wrapped,
} from './language.js';
import type { Expression, Operation, PairSelection, TextOperation } from './operations.js';

const helpers = {
  utf8: `
def utf8(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()`,
  utf16: `
def utf16(text):
    """The sort key of a text: its UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")`,
  form: `
def form(text):
    return quote_plus(utf8(text), safe="*").replace("~", "%7E")`,
  form_dotnet: `
def form_dotnet(text):
    escaped = quote_plus(utf8(text), safe="!*()").replace("~", "%7E")
    return re.sub("%..", lambda found: found[0].lower(), escaped)`,
  rfc3986: `
def rfc3986(text):
    return quote(utf8(text), safe="")`,
  base64url: `
def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")`,
  from_base64: `
def from_base64(text):
    if re.fullmatch("(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}", text) is None:
        raise ValueError("the key is not base64")
    digits = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(digits + "=" * (-len(digits) % 4))`,
  json_string: `
def json_string(text):
    """A JSON string as JavaScript writes it: an unpaired surrogate is escaped."""
    paired = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
    written = json.dumps(paired, ensure_ascii=False)
    return re.sub("[\\ud800-\\udfff]", lambda found: "\\\\u%04x" % ord(found[0]), written)`,
  reverse: `
def reverse(text):
    return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")[::-1]`,
  slice_units: `
def slice_units(text, start, end):
    """A part of a text, counted in UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")[2 * start : 2 * end].decode("utf-16-be", "surrogatepass")`,
  first: `
def first(params, wanted):
    return next((value for name, value in params if name == wanted), "")`,
  host: `
def host(url):
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://([^/]*)", url)
    return found[1] if found else ""`,
  path: `
def path(url):
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)", url, re.DOTALL)
    return url if found is None else found[1] or "/"`,
  without_prefix: `
def without_prefix(text, prefix):
    return text[len(prefix) :] if text.startswith(prefix) else text`,
  join_repeated: `
def join_repeated(pairs, separator):
    values = {}
    for name, value in pairs:
        values[name] = values[name] + separator + value if name in values else value
    return list(values.items())`,
  replace_all: `
def replace_all(text, table):
    return re.sub("|".join(map(re.escape, table)), lambda found: table[found[0]], text)`,
};

const imports: readonly (readonly [uses: RegExp, line: string])[] = [
  [/\bbase64\./, 'import base64'],
  [/\bbinascii\./, 'import binascii'],
  [/\bhashlib\./, 'import hashlib'],
  [/\bhmac\./, 'import hmac'],
  [/\bjson\./, 'import json'],
  [/\bre\./, 'import re'],
  [/\bquote\(/, 'from urllib.parse import quote'],
  [/\bquote_plus\(/, 'from urllib.parse import quote_plus'],
];

function literal(text: string): string {
  return quoted(text, (code) => {
    if (code < 0x100) return `\\x${hex(code, 2)}`;
    return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });
}

class PythonWriter extends Writer {
  literal = literal;

  input(name: 'method' | 'url' | 'body' | 'secret'): string {
    return name === 'body' ? '(body or "")' : name;
  }

  search(): string {
    return '("?" + query if query else "")';
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${name} ${isIn ? 'in' : 'not in'} ${list}`;
  }

  startsWith(name: string, prefix: string): string {
    return `${name}.startswith(${prefix})`;
  }

  override or = ' or ';
  override not = 'not ';

  extra(name: string): string {
    return `extra.get(${literal(name)}, "")`;
  }

  join(parts: readonly string[]): string {
    return parts.join(' + ');
  }

  joinBytes(parts: readonly string[]): string {
    return parts.join(' + ');
  }

  utf8(text: string): string {
    return this.call('utf8', text);
  }

  pairs(each: string, separator: string): string {
    return `${separator}.join(${each} for name, value in pairs)`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    return this.call('replace_all', text, `{${table.map((row) => row.map(literal).join(': ')).join(', ')}}`);
  }

  change(text: string, change: TextOperation): string {
    if (change === 'upper' || change === 'lower') return `${receiver(text)}.${change}()`;
    if (change === 'json') return this.call('json_string', text);
    if (change === 'base64') return `base64.b64encode(${this.utf8(text)}).decode()`;
    return this.call(change.replace('-', '_'), text);
  }

  slice(text: string, from: number, to: number, isAscii: boolean): string {
    return isAscii ? `${receiver(text)}[${from}:${to}]` : this.call('slice_units', text, `${from}`, `${to}`);
  }

  decode(text: string, decoding: 'hex' | 'base64'): string {
    return decoding === 'hex' ? `binascii.unhexlify(${text})` : this.call('from_base64', text);
  }

  digest(
    data: string,
    key: string | null,
    { algorithm, format }: Extract<Expression, { is: 'digest' }>,
  ): string {
    const digest =
      key === null ? `hashlib.${algorithm}(${data})` : `hmac.new(${key}, ${data}, "${algorithm}")`;
    switch (format) {
      case 'raw':
        return `${digest}.digest()`;
      case 'hex':
        return `${digest}.hexdigest()`;
      case 'HEX':
        return `${digest}.hexdigest().upper()`;
      case 'base64':
        return `base64.b64encode(${digest}.digest()).decode()`;
      case 'base64url':
        return this.call('base64url', `${digest}.digest()`);
      case 'base64-of-hex':
        return `base64.b64encode(${digest}.hexdigest().encode()).decode()`;
    }
  }

  operation(operation: Operation): string[] {
    if (operation.set === 'pairs') return this.#select(operation);
    if (operation.set === 'query') return ['url, _, query = url.partition("?")'];
    const value = this.expression(operation.value);
    if (operation.set === 'write') return ['', 'def write(text):', `    return ${value}`, ''];
    return [
      operation.variable === 'signature' ? `return ${bare(value)}` : `${operation.variable} = ${bare(value)}`,
    ];
  }

  #select(selection: PairSelection): string[] {
    const { nameCase, dropsEmpty, joinRepeated, add, order } = selection;
    const name = nameCase === 'none' ? 'name' : `name.${nameCase}()`;
    const fixed = order !== null && !('key' in order) ? order : null;
    const conditions = [
      ...this.conditions(selection, name, (names) => `[${names.map(literal).join(', ')}]`),
      ...(dropsEmpty ? ['value != ""'] : []),
    ];
    const where = conditions.length === 0 ? '' : ` if ${conditions.join(' and ')}`;
    const isAll = nameCase === 'none' && where === '';
    if (isAll && joinRepeated === null && add.length === 0) {
      return [
        order === null
          ? 'pairs = params'
          : `pairs = sorted(params, key=lambda pair: ${this.#sortKey(order)})`,
      ];
    }
    return [
      ...(fixed === null ? [] : [`order = [${fixed.map(literal).join(', ')}]`]),
      `pairs = ${isAll ? 'list(params)' : `[(${name}, value) for name, value in params${where}]`}`,
      ...(joinRepeated === null
        ? []
        : [`pairs = ${this.call('join_repeated', 'pairs', literal(joinRepeated))}`]),
      ...add.flatMap((added) => {
        const value = this.expression(added.value);
        const append = `pairs.append((${literal(added.name)}, ${bare(value)}))`;
        return added.isOptional ? [`if ${value} != "":`, `    ${append}`] : [append];
      }),
      ...(order === null ? [] : [`pairs.sort(key=lambda pair: ${this.#sortKey(order)})`]),
    ];
  }

  #sortKey(order: NonNullable<PairSelection['order']>): string {
    if (!('key' in order)) return 'order.index(pair[0])';
    return this.call('utf16', this.expression(order.key, { name: 'pair[0]', value: 'pair[1]' }));
  }
}

const testStyle: WrapStyle = { indent: '    ', chains: false, depth: 1 };

export const python: Language = {
  title: 'Python 3.8 or later',
  files: { rule: 'signature.py', test: 'test_signature.py' },
  run: 'python3 -m unittest test_signature',
  comment: '#',
  hasSurrogates: true,
  rule(rules, header) {
    const writer = new PythonWriter(helpers);
    const functions = rules.map((rule) => {
      const { name, operations } = rule;
      return [
        `def ${name}(method, url, params, body, extra, secret):`,
        `    """params: (name, value) pairs, decoded, in the order of the request, without ${name}.${aboutUrl(rule)}"""`,
        ...writer.body(operations, { indent: '    ', chains: false, depth: 1 }),
      ].join('\n');
    });
    const code = [...writer.helpers(), ...functions].join('\n\n\n');
    const used = imports.filter(([uses]) => uses.test(outsideLiterals(code))).map(([, line]) => line);
    return `${header}\n${used.join('\n')}\n\n\n${code}\n`;
  },
  test(cases, header) {
    const rows = cases.map(({ rule, name, request, secret, signature }) => {
      const { method, url, params, body, extra } = request;
      const pairs = params.map((pair) => `(${pair.map(literal).join(', ')})`);
      const extras = Object.entries(extra).map((entry) => entry.map(literal).join(': '));
      const given = `${literal(method)}, ${literal(url)}, [${pairs.join(', ')}], ${body === null ? 'None' : literal(body)}`;
      return `    (${literal(name)}, signature.${rule}, (${given}, {${extras.join(', ')}}, ${literal(secret)}), ${literal(signature)}),`;
    });
    return `${header}
import unittest

import signature

CASES = [
${rows.flatMap((row) => wrapped(row, testStyle)).join('\n')}
]


class SignatureTest(unittest.TestCase):
    def test_cases(self):
        for name, sign, request, expected in CASES:
            with self.subTest(name, rule=sign.__name__):
                self.assertEqual(sign(*request), expected)


if __name__ == "__main__":
    unittest.main()
`;
  },
};
