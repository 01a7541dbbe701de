import type { Algorithm } from '../digest-algorithms.js';
import type { TextOperation } from './expression.js';
import { type DigestFormat, type ExportedCase, type Language, Writer } from './language.js';
import { bare, receiver, usedIn } from './layout.js';
import { hex, quoted } from './literals.js';
import type { PairSelection } from './operations.js';

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
  readonly helpers = helpers;
  override style = { indent: '    ', chains: false, depth: 1 };
  override end = '';
  override or = ' or ';
  override not = 'not ';
  literal = literal;
  body = '(body or "")';
  search = '("?" + query if query else "")';

  file(functions: readonly string[], used: readonly string[], header: string): string {
    const code = [...used, ...functions].join('\n\n\n');
    return `${header}\n${usedIn(code, imports).join('\n')}\n\n\n${code}\n`;
  }

  function(name: string, aboutUrl: string, body: readonly string[]): string[] {
    return [
      `def ${name}(method, url, params, body, extra, secret):`,
      `    """params: (name, value) pairs, decoded, in the order of the request, without ${name}.${aboutUrl}"""`,
      ...body,
    ];
  }

  takeQuery(): string[] {
    return ['url, _, query = url.partition("?")'];
  }

  defineWrite(value: string): string[] {
    return ['', 'def write(text):', `    return ${value}`, ''];
  }

  select(selection: PairSelection): string[] {
    const { nameCase, joinRepeated, add } = selection;
    const name = nameCase === 'none' ? 'name' : `name.${nameCase}()`;
    const conditions = this.conditions(selection, name);
    const where = conditions.length === 0 ? '' : ` if ${conditions.join(' and ')}`;
    const isAll = nameCase === 'none' && where === '';
    const key = this.#sortKey(selection);
    if (isAll && joinRepeated === null && add.length === 0) {
      return [key === null ? 'pairs = params' : `pairs = sorted(params, key=lambda pair: ${key})`];
    }
    return [
      `pairs = ${isAll ? 'list(params)' : `[(${name}, value) for name, value in params${where}]`}`,
      ...(joinRepeated === null ? [] : [`pairs = ${this.joined('pairs', selection)}`]),
      ...add.flatMap((added) => {
        const value = this.expression(added.value);
        const append = `pairs.append((${literal(added.name)}, ${bare(value)}))`;
        return added.isOptional ? [`if ${this.isNotEmpty(value)}:`, `    ${append}`] : [append];
      }),
      ...(key === null ? [] : [`pairs.sort(key=lambda pair: ${key})`]),
    ];
  }

  /** `null` for the request order. */
  #sortKey({ order, sortKey }: PairSelection): string | null {
    if (order !== null) return 'order.index(pair[0])';
    if (sortKey === null) return null;
    return this.call('utf16', this.expression(sortKey, { name: 'pair[0]', value: 'pair[1]' }));
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${name} ${isIn ? 'in' : 'not in'} ${list}`;
  }

  override startsWith(name: string, prefix: string): string {
    return `${name}.startswith(${prefix})`;
  }

  extra(name: string): string {
    return `extra.get(${literal(name)}, "")`;
  }

  override joinBytes(parts: readonly string[]): string {
    return this.join(parts);
  }

  pairs(each: string, separator: string): string {
    return `${separator}.join(${each} for name, value in pairs)`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    return this.call('replace_all', text, `{${table.map((row) => row.map(literal).join(': ')).join(', ')}}`);
  }

  override change(text: string, change: TextOperation, isAscii: boolean): string {
    switch (change) {
      case 'upper':
      case 'lower':
        return `${receiver(text)}.${change}()`;
      case 'base64':
        return `base64.b64encode(${this.utf8(text)}).decode()`;
      default:
        return super.change(text, change, isAscii);
    }
  }

  override slice(text: string, from: number, to: number, isAscii: boolean): string {
    return isAscii ? `${receiver(text)}[${from}:${to}]` : this.call('slice_units', text, `${from}`, `${to}`);
  }

  override decode(text: string, decoding: 'hex' | 'base64'): string {
    return decoding === 'hex' ? `binascii.unhexlify(${text})` : super.decode(text, decoding);
  }

  digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string {
    const digest =
      key === null ? `hashlib.${algorithm}(${data})` : `hmac.new(${key}, ${data}, "${algorithm}")`;
    switch (format) {
      case 'raw':
        return `${digest}.digest()`;
      case 'hex':
        return `${digest}.hexdigest()`;
      case 'base64':
        return `base64.b64encode(${digest}.digest()).decode()`;
      case 'base64url':
        return this.call('base64url', `${digest}.digest()`);
    }
  }

  override base64OfHex(hex: string): string {
    return `base64.b64encode(${hex}.encode()).decode()`;
  }

  test(cases: readonly ExportedCase[], header: string): string {
    const rows = cases.flatMap(({ rule, name, method, url, params, body, extra, secret, signature }) => {
      const pairs = params.map((pair) => `(${pair.join(', ')})`).join(', ');
      const extras = extra.map((entry) => entry.join(': ')).join(', ');
      const request = `(${method}, ${url}, [${pairs}], ${body ?? 'None'}, {${extras}}, ${secret})`;
      return this.testLines(`    (${name}, signature.${rule}, ${request}, ${signature}),`);
    });
    return `${header}
import unittest

import signature

CASES = [
${rows.join('\n')}
]


class SignatureTest(unittest.TestCase):
    def test_cases(self):
        for name, sign, request, expected in CASES:
            with self.subTest(name, rule=sign.__name__):
                self.assertEqual(sign(*request), expected)


if __name__ == "__main__":
    unittest.main()
`;
  }
}

export const python: Language = {
  title: 'Python 3.8 or later',
  files: { rule: 'signature.py', test: 'test_signature.py' },
  run: 'python3 -m unittest test_signature',
  comment: '#',
  hasSurrogates: true,
  writer: () => new PythonWriter(),
};
