import {
  aboutUrl,
  bare,
  caseTable,
  hex,
  ignoredMarks,
  type Language,
  lines,
  outsideLiterals,
  pascalCase,
  placesIn,
  quoted,
  Writer,
} from './language.js';
import type { Expression, Operation, PairSelection, TextOperation } from './operations.js';

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
${lines(rows, ', ')
  .map((line) => `\t${line.trimEnd().replace(/,?$/, ',')}`)
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

const imports: readonly (readonly [uses: RegExp, name: string])[] = [
  [/\bbytes\./, 'bytes'],
  [/\bhmac\.New/, 'crypto/hmac'],
  [/\bmd5\.New/, 'crypto/md5'],
  [/\bsha1\.New/, 'crypto/sha1'],
  [/\bsha256\.New/, 'crypto/sha256'],
  [/\bsha512\.New/, 'crypto/sha512'],
  [/\bbase64\./, 'encoding/base64'],
  [/\bhex\./, 'encoding/hex'],
  [/\bfmt\./, 'fmt'],
  [/\bhash\.Hash/, 'hash'],
  [/\burl\.QueryEscape/, 'net/url'],
  [/\bregexp\./, 'regexp'],
  [/\bsort\./, 'sort'],
  [/\bstrings\./, 'strings'],
  [/\bunicode\./, 'unicode'],
  [/\butf16\./, 'unicode/utf16'],
];

function literal(text: string): string {
  return quoted(text, (code) => {
    if (code < 0x80) return `\\x${hex(code, 2)}`;
    return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });
}

class GoWriter extends Writer {
  override path(base: string): string {
    const whole = this.call('path', 'address');
    return base === '' ? whole : `strings.TrimPrefix(${whole}, ${literal(base)})`;
  }

  literal = literal;

  input(name: 'method' | 'url' | 'body' | 'secret'): string {
    // The package net/url has that name.
    return name === 'url' ? 'address' : name;
  }

  search(): string {
    return this.call('search', 'query');
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return (isIn ? '' : '!') + this.call('contains', list, name);
  }

  startsWith(name: string, prefix: string): string {
    return `strings.HasPrefix(${name}, ${prefix})`;
  }

  extra(name: string): string {
    return `extra[${literal(name)}]`;
  }

  join(parts: readonly string[]): string {
    return parts.join(' + ');
  }

  joinBytes(parts: readonly string[]): string {
    return this.call('concat', ...parts);
  }

  utf8(text: string): string {
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

  change(text: string, change: TextOperation, isAscii: boolean): string {
    switch (change) {
      case 'upper':
        return isAscii ? `strings.ToUpper(${text})` : this.call('upper', text);
      case 'lower':
        return isAscii ? `strings.ToLower(${text})` : this.call('lower', text);
      case 'base64':
        return `base64.StdEncoding.EncodeToString(${this.utf8(text)})`;
      case 'form-dotnet':
        return this.call('formDotnet', text);
      case 'json':
        return this.call('jsonString', text);
      default:
        return this.call(change, text);
    }
  }

  slice(text: string, from: number, to: number): string {
    return this.call('slice', text, `${from}`, `${to}`);
  }

  decode(text: string, decoding: 'hex' | 'base64'): string {
    return this.call(decoding === 'hex' ? 'fromHex' : 'fromBase64', text);
  }

  digest(
    data: string,
    key: string | null,
    { algorithm, format }: Extract<Expression, { is: 'digest' }>,
  ): string {
    const make = algorithm === 'sha384' ? 'sha512.New384' : `${algorithm}.New`;
    const hash = key === null ? `${make}()` : `hmac.New(${make}, ${key})`;
    const digest = this.call('digest', hash, data);
    switch (format) {
      case 'raw':
        return digest;
      case 'hex':
        return `hex.EncodeToString(${digest})`;
      case 'HEX':
        return `strings.ToUpper(hex.EncodeToString(${digest}))`;
      case 'base64':
        return `base64.StdEncoding.EncodeToString(${digest})`;
      case 'base64url':
        return `base64.RawURLEncoding.EncodeToString(${digest})`;
      case 'base64-of-hex':
        return `base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(${digest})))`;
    }
  }

  operation(operation: Operation): string[] {
    return this.#statements(operation).flatMap((code) => withDenseSums(code).split('\n'));
  }

  #statements(operation: Operation): string[] {
    if (operation.set === 'pairs') return this.#select(operation);
    if (operation.set === 'query') return ['address, query, _ := strings.Cut(address, "?")'];
    const value = this.expression(operation.value);
    if (operation.set === 'write')
      return ['write := func(text string) string {', `\treturn ${bare(value)}`, '}'];
    if (operation.variable === 'signature') return [`return ${bare(value)}`];
    // A helper has the name digest.
    return [`${this.variable(operation.variable)} := ${bare(value)}`];
  }

  override variable(name: string): string {
    return name.replace(/^digest/, 'hashed');
  }

  #select(selection: PairSelection): string[] {
    const { nameCase, dropsEmpty, joinRepeated, add: added, order } = selection;
    const fixed = order !== null && !('key' in order) ? order : null;
    const conditions = [
      ...this.conditions(selection, 'name', (names) => `[]string{${names.map(literal).join(', ')}}`),
      ...(dropsEmpty ? ['value != ""'] : []),
    ];
    const name = nameCase === 'none' ? 'pair[0]' : this.change('pair[0]', nameCase, false);
    const add = 'pairs = append(pairs, [2]string{name, value})';
    const loop = [
      'var pairs [][2]string',
      'for _, pair := range params {',
      `\tname, value := ${name}, pair[1]`,
      ...(conditions.length === 0
        ? [`\t${add}`]
        : [`\tif ${bare(conditions.join(' && '))} {`, `\t\t${add}`, '\t}']),
      '}',
    ];
    const isAll = nameCase === 'none' && conditions.length === 0;
    return [
      ...(fixed === null ? [] : [`order := []string{${fixed.map(literal).join(', ')}}`]),
      ...(isAll ? ['pairs := append([][2]string{}, params...)'] : loop),
      ...(joinRepeated === null
        ? []
        : [`pairs = ${this.call('joinRepeated', 'pairs', literal(joinRepeated))}`]),
      ...added.flatMap(({ name: own, value: given, isOptional }) => {
        const value = this.expression(given);
        const append = `pairs = append(pairs, [2]string{${literal(own)}, ${bare(value)}})`;
        return isOptional ? [`if ${value} != "" {`, `\t${append}`, '}'] : [append];
      }),
      ...(order === null
        ? []
        : ['sort.SliceStable(pairs, func(i, j int) bool {', `\treturn ${this.#less(order)}`, '})']),
    ];
  }

  #less(order: NonNullable<PairSelection['order']>): string {
    if (!('key' in order)) {
      const place = (index: string) => this.call('indexOf', 'order', `pairs[${index}][0]`);
      return `${place('i')} < ${place('j')}`;
    }
    const key = (index: string) =>
      this.expression(order.key, { name: `pairs[${index}][0]`, value: `pairs[${index}][1]` });
    return this.call('utf16Less', key('i'), key('j'));
  }
}

interface Bracket {
  readonly outer: Bracket | null;
  /** Braces, where the spacing does not depend on what is around; also the statement. */
  readonly isBlock: boolean;
  hasComma: boolean;
  hasSum: boolean;
}

/** A statement with its sums as gofmt writes them: without spaces in one of several arguments, or in a sum. */
function withDenseSums(line: string): string {
  const sums: [at: number, bracket: Bracket][] = [];
  let bracket: Bracket = { outer: null, isBlock: true, hasComma: false, hasSum: false };
  for (const { at } of placesIn(line)) {
    const character = line.charAt(at);
    if ('([{'.includes(character)) {
      bracket = { outer: bracket, isBlock: character === '{', hasComma: false, hasSum: false };
    } else if (')]}'.includes(character)) bracket = bracket.outer ?? bracket;
    else if (character === ',') bracket.hasComma = true;
    else if (character === '+') {
      bracket.hasSum = true;
      sums.push([at, bracket]);
    }
  }
  const dense = sums.filter(([, inner]) => !inner.isBlock && (inner.hasComma || isDenseIn(inner.outer)));
  return dense.reduceRight((text, [at]) => `${text.slice(0, at - 1)}+${text.slice(at + 2)}`, line);
}

function isDenseIn(bracket: Bracket | null): boolean {
  if (bracket === null) return false;
  if (bracket.hasSum || (bracket.hasComma && !bracket.isBlock)) return true;
  return !bracket.isBlock && isDenseIn(bracket.outer);
}

export const go: Language = {
  title: 'Go 1.18 or later',
  files: { rule: 'signature.go', test: 'signature_test.go' },
  run: 'go test signature.go signature_test.go',
  comment: '//',
  hasSurrogates: false,
  rule(rules, header) {
    const writer = new GoWriter(helpers);
    const functions = rules.map((rule) => {
      const { name, operations } = rule;
      return [
        `// ${pascalCase(name)} takes the decoded parameters in the order of the request, without ${name}.${aboutUrl(rule).replace('url:', 'address:')}`,
        `func ${pascalCase(name)}(method, address string, params [][2]string, body string, extra map[string]string, secret string) string {`,
        ...writer.body(operations, { indent: '\t', chains: false, depth: 0, flat: true }),
        '}',
      ].join('\n');
    });
    const code = [...functions, ...writer.helpers()].join('\n\n');
    const used = imports
      .filter(([uses]) => uses.test(outsideLiterals(code)))
      .map(([, name]) => `\t"${name}"`);
    return `${header}\n\npackage signature\n\nimport (\n${used.join('\n')}\n)\n\n${code}\n`;
  },
  test(cases, header) {
    const rows = cases.flatMap(({ rule, name, request, secret, signature }) => {
      const { method, url, params, body, extra } = request;
      const pairs = params.map((pair) => `{${pair.map(literal).join(', ')}}`);
      const extras = Object.entries(extra).map((entry) => entry.map(literal).join(': '));
      return [
        '\t\t{',
        `\t\t\t${literal(`${rule}: ${name}`)},`,
        `\t\t\t${pascalCase(rule)}(${literal(method)}, ${literal(url)}, [][2]string{`,
        ...lines(pairs, ', ', 90).map((line) => `\t\t\t\t${line.trimEnd().replace(/,?$/, ',')}`),
        '\t\t\t},',
        `\t\t\t\t${literal(body ?? '')},`,
        `\t\t\t\tmap[string]string{${extras.join(', ')}}, ${literal(secret)}),`,
        `\t\t\t${literal(signature)},`,
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
  },
};
