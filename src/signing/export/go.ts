import type { Algorithm } from '../digest-algorithms.js';
import type { TextOperation } from './expression.js';
import { withDenseSums } from './gofmt.js';
import {
  camelCase,
  type DigestFormat,
  type ExportedCase,
  type Language,
  pascalCase,
  Writer,
} from './language.js';
import { bare, lines, usedIn } from './layout.js';
import { caseTable, ignoredMarks } from './letter-case.js';
import { hex, quoted } from './literals.js';
import type { Operation, PairSelection } from './operations.js';

const helpers = {
  utf16Less: `
// utf16Less compares texts by UTF-16 code unit.
func utf16Less(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}`,
  lower: `
// lower is the lower case of Unicode: strings.ToLower does not know the sigma that ends a word.
func lower(text string) string {
	runes := []rune(text)
	out := make([]rune, 0, len(runes))
	for i, r := range runes {
		switch {
		case r == 0x130:
			out = append(out, 'i', 0x307)
		case r == 0x3a3 && besideCased(runes, i, -1) && !besideCased(runes, i, 1):
			out = append(out, 0x3c2)
		default:
			out = append(out, unicode.ToLower(r))
		}
	}
	return string(out)
}`,
  ignoredMarks: `
const ignoredMarks = ${literal(ignoredMarks)}`,
  besideCased: `
func besideCased(runes []rune, i, step int) bool {
	for i += step; i >= 0 && i < len(runes); i += step {
		r := runes[i]
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) {
			continue
		}
		if strings.ContainsRune(ignoredMarks, r) {
			continue
		}
		return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Uppercase, unicode.Other_Lowercase)
	}
	return false
}`,
  upper: `
// upper is the upper case of Unicode: strings.ToUpper does not know letters whose upper case is several.
func upper(text string) string {
	return strings.ToUpper(longUpperCases.Replace(text))
}`,
  get longUpperCases() {
    const rows = caseTable('toUpperCase').several.map((row) => row.map(literal).join(', '));
    return `
var longUpperCases = strings.NewReplacer(
${rowsOf(rows, 100)
  .map((row) => `\t${row}`)
  .join('\n')}
)`;
  },
  form: `
func form(text string) string {
	return strings.NewReplacer("~", "%7E", "%2A", "*").Replace(url.QueryEscape(text))
}`,
  formDotnet: `
func formDotnet(text string) string {
	escaped := regexp.MustCompile("%..").ReplaceAllStringFunc(url.QueryEscape(text), strings.ToLower)
	return strings.NewReplacer("~", "%7e", "%21", "!", "%28", "(", "%29", ")", "%2a", "*").Replace(escaped)
}`,
  rfc3986: `
func rfc3986(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}`,
  reverse: `
func reverse(text string) string {
	runes := []rune(text)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}`,
  jsonString: `
// jsonString is a JSON string as JavaScript writes it.
func jsonString(text string) string {
	var out strings.Builder
	for _, r := range text {
		if i := strings.IndexRune("\\"\\\\\\b\\f\\n\\r\\t", r); i >= 0 {
			out.WriteString("\\\\" + "\\"\\\\bfnrt"[i:i+1])
		} else if r < 0x20 {
			out.WriteString(fmt.Sprintf("\\\\u%04x", r))
		} else {
			out.WriteRune(r)
		}
	}
	return "\\"" + out.String() + "\\""
}`,
  search: `
func search(query string) string {
	if query == "" {
		return ""
	}
	return "?" + query
}`,
  digest: `
func digest(hash hash.Hash, data []byte) []byte {
	hash.Write(data)
	return hash.Sum(nil)
}`,
  concat: `
func concat(parts ...[]byte) []byte {
	return bytes.Join(parts, nil)
}`,
  fromHex: `
func fromHex(text string) []byte {
	data, err := hex.DecodeString(text)
	if err != nil {
		panic("the key is not hex")
	}
	return data
}`,
  fromBase64: `
func fromBase64(text string) []byte {
	if !regexp.MustCompile("^(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}$").MatchString(text) {
		panic("the key is not base64")
	}
	digits := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	data, err := base64.RawStdEncoding.DecodeString(digits)
	if err != nil {
		panic("the key is not base64")
	}
	return data
}`,
  slice: `
func slice(text string, start, end int) string {
	if end > len(text) {
		end = len(text)
	}
	if start > end {
		start = end
	}
	return text[start:end]
}`,
  first: `
func first(params [][2]string, name string) string {
	for _, pair := range params {
		if pair[0] == name {
			return pair[1]
		}
	}
	return ""
}`,
  host: `
func host(address string) string {
	found := regexp.MustCompile("^[A-Za-z][A-Za-z0-9+.-]*://([^/]*)").FindStringSubmatch(address)
	if found == nil {
		return ""
	}
	return found[1]
}`,
  path: `
func path(address string) string {
	found := regexp.MustCompile("(?s)^[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)$").FindStringSubmatch(address)
	if found == nil {
		return address
	}
	if found[1] == "" {
		return "/"
	}
	return found[1]
}`,
  joinRepeated: `
func joinRepeated(pairs [][2]string, separator string) [][2]string {
	places := map[string]int{}
	var joined [][2]string
	for _, pair := range pairs {
		if place, known := places[pair[0]]; known {
			joined[place][1] += separator + pair[1]
			continue
		}
		places[pair[0]] = len(joined)
		joined = append(joined, pair)
	}
	return joined
}`,
  contains: `
func contains(names []string, name string) bool {
	return indexOf(names, name) >= 0
}`,
  indexOf: `
func indexOf(names []string, name string) int {
	for i, one := range names {
		if one == name {
			return i
		}
	}
	return -1
}`,
  joinPairs: `
func joinPairs(pairs [][2]string, separator string, write func(name, value string) string) string {
	var texts []string
	for _, pair := range pairs {
		texts = append(texts, write(pair[0], pair[1]))
	}
	return strings.Join(texts, separator)
}`,
};

const packages = [
  'bytes',
  'crypto/hmac',
  'crypto/md5',
  'crypto/sha1',
  'crypto/sha256',
  'crypto/sha512',
  'encoding/base64',
  'encoding/hex',
  'fmt',
  'hash',
  'net/url',
  'regexp',
  'sort',
  'strings',
  'unicode',
  'unicode/utf16',
].map((path) => [new RegExp(`\\b${path.replace(/.*\//, '')}\\.`), path] as const);

function literal(text: string): string {
  return quoted(text, (code) => {
    if (code < 0x80) return `\\x${hex(code, 2)}`;
    return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });
}

class GoWriter extends Writer {
  readonly helpers = helpers;
  override helperName = camelCase;
  override style = { indent: '\t', chains: false, depth: 0, flat: true };
  override end = '';
  literal = literal;
  body = 'body';

  get search(): string {
    return this.call('search', 'query');
  }

  file(functions: readonly string[], used: readonly string[], header: string): string {
    const code = [...functions, ...used].join('\n\n');
    const imports = usedIn(code, packages).map((name) => `\t"${name}"`);
    return `${header}\n\npackage signature\n\nimport (\n${imports.join('\n')}\n)\n\n${code}\n`;
  }

  function(name: string, aboutUrl: string, body: readonly string[]): string[] {
    const about = aboutUrl.replace('url:', 'address:');
    return [
      `// ${pascalCase(name)} takes the decoded parameters in the order of the request, without ${name}.${about}`,
      `func ${pascalCase(name)}(method, address string, params [][2]string, body string, extra map[string]string, secret string) string {`,
      ...body,
      '}',
    ];
  }

  override statements(operation: Operation): string[] {
    return super.statements(operation).flatMap((code) => withDenseSums(code).split('\n'));
  }

  /** A package is named url, and a helper digest. */
  override variable(name: string): string {
    return name === 'url' ? 'address' : name.replace(/^digest/, 'hashed');
  }

  takeQuery(): string[] {
    return ['address, query, _ := strings.Cut(address, "?")'];
  }

  defineWrite(value: string): string[] {
    return ['write := func(text string) string {', `\treturn ${bare(value)}`, '}'];
  }

  override assign(name: string, value: string): string {
    return `${this.variable(name)} := ${value}`;
  }

  select(selection: PairSelection): string[] {
    const { nameCase, joinRepeated, add } = selection;
    const conditions = this.conditions(selection);
    const name = nameCase === 'none' ? 'pair[0]' : this.change('pair[0]', nameCase, false);
    const append = 'pairs = append(pairs, [2]string{name, value})';
    const loop = [
      'var pairs [][2]string',
      'for _, pair := range params {',
      `\tname, value := ${name}, pair[1]`,
      ...(conditions.length === 0
        ? [`\t${append}`]
        : [`\tif ${bare(conditions.join(' && '))} {`, `\t\t${append}`, '\t}']),
      '}',
    ];
    const isAll = nameCase === 'none' && conditions.length === 0;
    const less = this.#less(selection);
    return [
      ...(isAll ? ['pairs := append([][2]string{}, params...)'] : loop),
      ...(joinRepeated === null ? [] : [`pairs = ${this.joined('pairs', selection)}`]),
      ...add.flatMap((added) => {
        const value = this.expression(added.value);
        const append = `pairs = append(pairs, [2]string{${literal(added.name)}, ${bare(value)}})`;
        return added.isOptional ? [`if ${this.isNotEmpty(value)} {`, `\t${append}`, '}'] : [append];
      }),
      ...(less === null ? [] : ['sort.SliceStable(pairs, func(i, j int) bool {', `\treturn ${less}`, '})']),
    ];
  }

  /** `null` for the request order. */
  #less({ order, sortKey }: PairSelection): string | null {
    if (order !== null) {
      const place = (index: string) => this.call('indexOf', 'order', `pairs[${index}][0]`);
      return `${place('i')} < ${place('j')}`;
    }
    if (sortKey === null) return null;
    const key = (index: string) =>
      this.expression(sortKey, { name: `pairs[${index}][0]`, value: `pairs[${index}][1]` });
    return this.call('utf16Less', key('i'), key('j'));
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return (isIn ? '' : '!') + this.call('contains', list, name);
  }

  override startsWith(name: string, prefix: string): string {
    return `strings.HasPrefix(${name}, ${prefix})`;
  }

  override list(texts: string): string {
    return `[]string{${texts}}`;
  }

  extra(name: string): string {
    return `extra[${literal(name)}]`;
  }

  override withoutPrefix(text: string, prefix: string): string {
    return `strings.TrimPrefix(${text}, ${prefix})`;
  }

  override utf8(text: string): string {
    return `[]byte(${text})`;
  }

  pairs(each: string, separator: string): string {
    // gofmt gives a longer function lines of its own.
    const body = each.length > 55 ? `{\n\treturn ${each}\n}` : `{ return ${each} }`;
    const write = `func(name, value string) string ${body}`;
    return this.call('joinPairs', 'pairs', separator, write);
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    return `strings.NewReplacer(${table.flat().map(literal).join(', ')}).Replace(${text})`;
  }

  override change(text: string, change: TextOperation, isAscii: boolean): string {
    if (change === 'base64') return `base64.StdEncoding.EncodeToString(${this.utf8(text)})`;
    if (isAscii && change === 'upper') return `strings.ToUpper(${text})`;
    if (isAscii && change === 'lower') return `strings.ToLower(${text})`;
    return super.change(text, change, isAscii);
  }

  digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string {
    const make = algorithm === 'sha384' ? 'sha512.New384' : `${algorithm}.New`;
    const hash = key === null ? `${make}()` : `hmac.New(${make}, ${key})`;
    const digest = this.call('digest', hash, data);
    switch (format) {
      case 'raw':
        return digest;
      case 'hex':
        return `hex.EncodeToString(${digest})`;
      case 'base64':
        return `base64.StdEncoding.EncodeToString(${digest})`;
      case 'base64url':
        return `base64.RawURLEncoding.EncodeToString(${digest})`;
    }
  }

  test(cases: readonly ExportedCase[], header: string): string {
    const rows = cases.flatMap(({ rule, title, method, url, params, body, extra, secret, signature }) => {
      const pairs = params.map((pair) => `{${pair.join(', ')}}`);
      const extras = extra.map((entry) => entry.join(': ')).join(', ');
      return [
        '\t\t{',
        `\t\t\t${title},`,
        `\t\t\t${pascalCase(rule)}(${method}, ${url}, [][2]string{`,
        ...rowsOf(pairs, 90).map((row) => `\t\t\t\t${row}`),
        '\t\t\t},',
        `\t\t\t\t${body ?? '""'},`,
        `\t\t\t\tmap[string]string{${extras}}, ${secret}),`,
        `\t\t\t${signature},`,
        '\t\t},',
      ];
    });
    return `${header}

package signature

import "testing"

func TestSignatures(t *testing.T) {
	for _, one := range []struct{ name, signature, expected string }{
${rows.join('\n')}
	} {
		if one.signature != one.expected {
			t.Errorf("%s: %s is not %s", one.name, one.signature, one.expected)
		}
	}
}
`;
  }
}

/** Elements of a composite literal in lines, each of which ends with a comma. */
function rowsOf(elements: readonly string[], width: number): string[] {
  return lines(elements, ', ', width).map((line) => line.trimEnd().replace(/,?$/, ','));
}

export const go: Language = {
  title: 'Go 1.18 or later',
  files: { rule: 'signature.go', test: 'signature_test.go' },
  run: 'go test signature.go signature_test.go',
  comment: '//',
  hasSurrogates: false,
  writer: () => new GoWriter(),
};
