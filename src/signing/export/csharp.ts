import type { Algorithm } from '../digest-algorithms.js';
import type { TextOperation } from './expression.js';
import { type DigestFormat, type ExportedCase, type Language, pascalCase, Writer } from './language.js';
import { bare, indented, lines, receiver, usedIn } from './layout.js';
import { caseTable, ignoredMarks } from './letter-case.js';
import { quoted, utf16Escape } from './literals.js';
import type { PairSelection } from './operations.js';

const helpers = {
  Percent: `
private static string Percent(string text, string kept, string format)
{
    var escaped = new StringBuilder();
    foreach (var code in Encoding.UTF8.GetBytes(text))
    {
        var isKept = code < 128 && (char.IsLetterOrDigit((char)code) || kept.IndexOf((char)code) >= 0);
        escaped.Append(isKept ? ((char)code).ToString() : "%" + code.ToString(format));
    }
    return escaped.ToString();
}`,
  Form: `
private static string Form(string text)
{
    return Percent(text, "-_.* ", "X2").Replace(' ', '+');
}`,
  FormDotnet: `
private static string FormDotnet(string text)
{
    return Percent(text, "-_.!*() ", "x2").Replace(' ', '+');
}`,
  Rfc3986: `
private static string Rfc3986(string text)
{
    return Percent(text, "-_.~", "X2");
}`,
  JsonString: `
/// <summary>A JSON string as JavaScript writes it: an unpaired surrogate is escaped.</summary>
private static string JsonString(string text)
{
    var json = new StringBuilder("\\"");
    foreach (var letter in Letters(text))
    {
        var known = "\\"\\\\\\b\\f\\n\\r\\t".IndexOf(letter[0]);
        if (known >= 0) json.Append('\\\\').Append("\\"\\\\bfnrt"[known]);
        else if (letter[0] < ' ' || (letter.Length == 1 && char.IsSurrogate(letter[0])))
            json.Append("\\\\u" + ((int)letter[0]).ToString("x4"));
        else json.Append(letter);
    }
    return json.Append('"').ToString();
}`,
  Reverse: `
private static string Reverse(string text)
{
    return string.Concat(Enumerable.Reverse(Letters(text)));
}`,
  Lower: `
/// <summary>Lower case as in Unicode: that of ToLowerInvariant differs between runtimes.</summary>
private static string Lower(string text)
{
    var letters = Letters(text);
    var lower = new StringBuilder();
    for (var i = 0; i < letters.Count; i++)
    {
        var isFinal = letters[i] == "\\u03a3" && IsBesideCased(letters, i, -1) && !IsBesideCased(letters, i, 1);
        lower.Append(isFinal ? "\\u03c2" : LowerCases.TryGetValue(letters[i], out var other) ? other : letters[i]);
    }
    return lower.ToString();
}`,
  IsBesideCased: `
private static bool IsBesideCased(List<string> letters, int i, int step)
{
    for (i += step; i >= 0 && i < letters.Count; i += step)
    {
        var letter = letters[i];
        var category = CharUnicodeInfo.GetUnicodeCategory(letter, 0);
        if (category == UnicodeCategory.NonSpacingMark || category == UnicodeCategory.EnclosingMark) continue;
        if (category == UnicodeCategory.Format || category == UnicodeCategory.ModifierLetter) continue;
        if (category == UnicodeCategory.ModifierSymbol || IgnoredMarks.Contains(letter)) continue;
        if (category <= UnicodeCategory.TitlecaseLetter || letter == "\\u00aa" || letter == "\\u00ba") return true;
        return LowerCases.ContainsKey(letter) || LowerCases.ContainsValue(letter);
    }
    return false;
}`,
  IgnoredMarks: `
private const string IgnoredMarks = ${literal(ignoredMarks)};`,
  get LowerCases() {
    return casesOf('LowerCases', 'toLowerCase');
  },
  Upper: `
/// <summary>Upper case as in Unicode: that of ToUpperInvariant differs between runtimes.</summary>
private static string Upper(string text)
{
    return string.Concat(Letters(text).Select(letter => UpperCases.TryGetValue(letter, out var other) ? other : letter));
}`,
  get UpperCases() {
    return casesOf('UpperCases', 'toUpperCase');
  },
  Letters: `
private static List<string> Letters(string text)
{
    var letters = new List<string>();
    for (var i = 0; i < text.Length; i += letters[letters.Count - 1].Length)
    {
        letters.Add(text.Substring(i, char.IsSurrogatePair(text, i) ? 2 : 1));
    }
    return letters;
}`,
  CaseTable: `
/// <summary>runs: first letter, last, step, distance to the other case. several: a letter and its letters.</summary>
private static Dictionary<string, string> CaseTable(string runs, string several)
{
    var table = several.Split(',').ToDictionary(row => row.Split(' ')[0], row => row.Split(' ')[1]);
    foreach (var run in runs.Split(','))
    {
        var numbers = run.Split(' ').Select(number => int.Parse(number, CultureInfo.InvariantCulture)).ToArray();
        for (var code = numbers[0]; code <= numbers[1]; code += numbers[2])
        {
            table[char.ConvertFromUtf32(code)] = char.ConvertFromUtf32(code + numbers[3]);
        }
    }
    return table;
}`,
  Hex: `
private static string Hex(byte[] data)
{
    return BitConverter.ToString(data).Replace("-", "").ToLowerInvariant();
}`,
  FromHex: `
private static byte[] FromHex(string text)
{
    if (!Regex.IsMatch(text, @"\\A([0-9A-Fa-f]{2})*\\z")) throw new FormatException("the key is not hex");
    return Enumerable.Range(0, text.Length / 2).Select(i => Convert.ToByte(text.Substring(2 * i, 2), 16)).ToArray();
}`,
  FromBase64: `
private static byte[] FromBase64(string text)
{
    if (!Regex.IsMatch(text, @"\\A(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}\\z"))
        throw new FormatException("the key is not base64");
    var digits = text.TrimEnd('=').Replace('-', '+').Replace('_', '/');
    return Convert.FromBase64String(digits.PadRight((digits.Length + 3) / 4 * 4, '='));
}`,
  Digest: `
private static byte[] Digest(HashAlgorithm algorithm, byte[] data)
{
    using (algorithm) return algorithm.ComputeHash(data);
}`,
  Slice: `
private static string Slice(string text, int start, int end)
{
    end = Math.Min(end, text.Length);
    return text.Substring(Math.Min(start, end), end - Math.Min(start, end));
}`,
  First: `
private static string First(IEnumerable<KeyValuePair<string, string>> parameters, string name)
{
    return parameters.Where(pair => pair.Key == name).Select(pair => pair.Value).FirstOrDefault() ?? "";
}`,
  Extra: `
private static string Extra(IDictionary<string, string> extra, string name)
{
    return extra.TryGetValue(name, out var value) ? value : "";
}`,
  Host: `
private static string Host(string url)
{
    return Regex.Match(url, @"\\A[A-Za-z][A-Za-z0-9+.-]*://([^/]*)").Groups[1].Value;
}`,
  Path: `
private static string Path(string url)
{
    var found = Regex.Match(url, @"\\A[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)\\z", RegexOptions.Singleline);
    if (!found.Success) return url;
    return found.Groups[1].Value == "" ? "/" : found.Groups[1].Value;
}`,
  WithoutPrefix: `
private static string WithoutPrefix(string text, string prefix)
{
    return text.StartsWith(prefix, StringComparison.Ordinal) ? text.Substring(prefix.Length) : text;
}`,
  JoinRepeated: `
private static IEnumerable<KeyValuePair<string, string>> JoinRepeated(
    IEnumerable<KeyValuePair<string, string>> pairs, string separator)
{
    return pairs.GroupBy(pair => pair.Key).Select(group =>
        new KeyValuePair<string, string>(group.Key, string.Join(separator, group.Select(pair => pair.Value))));
}`,
};

/** Letters with another case, as runs of letters with the same distance to it. */
function casesOf(name: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const { single, several } = caseTable(change);
  const runs: [first: number, last: number, step: number, distance: number][] = [];
  for (const [from, to] of single) {
    const run = runs.at(-1);
    const step = from - (run?.[1] ?? 0);
    const goesOn =
      run !== undefined && run[3] === to - from && (run[0] === run[1] ? step <= 2 : step === run[2]);
    if (goesOn) run.splice(1, 2, from, step);
    else runs.push([from, from, 1, to - from]);
  }
  const written = (parts: readonly string[]) =>
    lines(parts, ',')
      .map((line) => `"${line}"`)
      .join(' +\n    ');
  const rows = several.map((row) => row.map((text) => literal(text).slice(1, -1)).join(' '));
  return `
private static readonly Dictionary<string, string> ${name} = CaseTable(
    ${written(runs.map((run) => run.join(' ')))},
    ${written(rows)});`;
}

const usings: readonly (readonly [uses: RegExp, name: string])[] = [
  [/\b(?:Math|Func|BitConverter|Convert|StringComparer|StringComparison|Array|FormatException)\b/, 'System'],
  [/\b(?:IEnumerable|KeyValuePair|Dictionary|List)\b/, 'System.Collections.Generic'],
  [/\b(?:CultureInfo|UnicodeCategory)\b/, 'System.Globalization'],
  [/\bEnumerable\b|\.(?:Select|Where|OrderBy|ToArray|ToDictionary|Concat|GroupBy)\(/, 'System.Linq'],
  [/\b(?:HashAlgorithm|HMAC\w+|MD5|SHA\d+)\b/, 'System.Security.Cryptography'],
  [/\b(?:Encoding|StringBuilder)\b/, 'System.Text'],
  [/\bRegex\b/, 'System.Text.RegularExpressions'],
];

function literal(text: string): string {
  return quoted(text, utf16Escape);
}

class CsharpWriter extends Writer {
  readonly helpers = helpers;
  override helperName = pascalCase;
  override pairVariables = { name: 'pair.Key', value: 'pair.Value' };
  literal = literal;
  body = '(body ?? "")';
  search = '(query == "" ? "" : "?" + query)';

  file(functions: readonly string[], used: readonly string[], header: string): string {
    const code = [...functions, ...used].map(indented).join('\n\n');
    const imports = usedIn(code, usings).map((name) => `using ${name};`);
    return `${header}\n${imports.join('\n')}\n\npublic static class Signature\n{\n${code}\n}\n`;
  }

  function(name: string, aboutUrl: string, body: readonly string[]): string[] {
    return [
      `/// <summary>Takes the decoded parameters in the order of the request, without ${name}.${aboutUrl}</summary>`,
      `public static string ${pascalCase(name)}(string method, string url,`,
      '    IEnumerable<KeyValuePair<string, string>> parameters, string body,',
      '    IDictionary<string, string> extra, string secret)',
      '{',
      ...body,
      '}',
    ];
  }

  override variable(name: string): string {
    return name === 'params' ? 'parameters' : name;
  }

  takeQuery(): string[] {
    return [
      `var query = url.Contains("?") ? url.Substring(url.IndexOf('?') + 1) : "";`,
      "url = url.Split('?')[0];",
    ];
  }

  defineWrite(value: string): string[] {
    return [`Func<string, string> write = text => ${value};`];
  }

  override assign(name: string, value: string): string {
    return `var ${name} = ${value};`;
  }

  select(selection: PairSelection): string[] {
    const { nameCase, add } = selection;
    const pair = (name: string, value: string) => `new KeyValuePair<string, string>(${name}, ${value})`;
    const selected = [
      'parameters',
      ...(nameCase === 'none'
        ? []
        : [`.Select(pair => ${pair(this.change('pair.Key', nameCase, false), 'pair.Value')})`]),
      ...this.conditions(selection).map((condition) => `.Where(pair => ${bare(condition)})`),
    ].join('');
    const added = add.map(({ name, value, isOptional }) => {
      const own = `new[] { ${pair(literal(name), bare(this.expression(value)))} }`;
      return `.Concat(${isOptional ? `${own}.Where(pair => pair.Value != "")` : own})`;
    });
    const pairs = [this.joined(selected, selection), ...added, this.#orderBy(selection)].join('');
    return [`var pairs = ${pairs};`];
  }

  #orderBy({ order, sortKey }: PairSelection): string {
    if (order !== null) return '.OrderBy(pair => Array.IndexOf(order, pair.Key))';
    if (sortKey === null) return '';
    return `.OrderBy(pair => ${this.expression(sortKey, this.pairVariables)}, StringComparer.Ordinal)`;
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `Array.IndexOf(${list}, ${name}) ${isIn ? '>=' : '<'} 0`;
  }

  override startsWith(name: string, prefix: string): string {
    return `${name}.StartsWith(${prefix}, StringComparison.Ordinal)`;
  }

  override list(texts: string): string {
    return texts === '' ? 'new string[0]' : `new[] { ${texts} }`;
  }

  extra(name: string): string {
    return this.call('Extra', 'extra', literal(name));
  }

  override joinBytes(parts: readonly string[]): string {
    const [first = '', ...others] = parts;
    return `${first}${others.map((part) => `.Concat(${part})`).join('')}.ToArray()`;
  }

  override utf8(text: string): string {
    return `Encoding.UTF8.GetBytes(${bare(text)})`;
  }

  pairs(each: string, separator: string): string {
    return `string.Join(${separator}, pairs.Select(pair => ${each}))`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    const entries = table.map((row) => `[${literal(row[0])}] = ${literal(row[1])}`).join(', ');
    const pattern = table.map(([from]) => from.replace(/[\\^$.*+?()[\]{}|#\s]/g, '\\$&')).join('|');
    return `Regex.Replace(${text}, ${literal(pattern)}, found => new Dictionary<string, string> { ${entries} }[found.Value])`;
  }

  override change(text: string, change: TextOperation, isAscii: boolean): string {
    if (change === 'base64') return `Convert.ToBase64String(${this.utf8(text)})`;
    if (isAscii && change === 'upper') return `${receiver(text)}.ToUpperInvariant()`;
    if (isAscii && change === 'lower') return `${receiver(text)}.ToLowerInvariant()`;
    return super.change(text, change, isAscii);
  }

  digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string {
    const name = algorithm.toUpperCase();
    const digest = this.call('Digest', key === null ? `${name}.Create()` : `new HMAC${name}(${key})`, data);
    switch (format) {
      case 'raw':
        return digest;
      case 'hex':
        return this.call('Hex', digest);
      case 'base64':
        return `Convert.ToBase64String(${digest})`;
      case 'base64url':
        return `Convert.ToBase64String(${digest}).TrimEnd('=').Replace('+', '-').Replace('/', '_')`;
    }
  }

  test(cases: readonly ExportedCase[], header: string): string {
    const rows = cases.flatMap(({ rule, title, method, url, params, body, extra, secret, signature }) => {
      const pairs = params.map((pair) => `Pair(${pair.join(', ')})`).join(', ');
      const entries = extra.map((entry) => `{ ${entry.join(', ')} }`).join(', ');
      const extras = `new Dictionary<string, string> { ${entries} }`;
      const call = `Signature.${pascalCase(rule)}(${method}, ${url}, new[] { ${pairs} }, ${body ?? 'null'}, ${extras}, ${secret})`;
      return this.testLines(`        Check(${title}, ${call}, ${signature});`);
    });
    return `${header}
using System;
using System.Collections.Generic;

public static class SignatureTest
{
    private static int failed = 0;

    private static KeyValuePair<string, string> Pair(string name, string value)
    {
        return new KeyValuePair<string, string>(name, value);
    }

    private static void Check(string name, string signature, string expected)
    {
        if (signature == expected) return;
        failed++;
        Console.WriteLine(name + ": " + signature + " is not " + expected);
    }

    public static int Main()
    {
${rows.join('\n')}
        Console.WriteLine((${cases.length} - failed) + " passed, " + failed + " failed");
        return failed == 0 ? 0 : 1;
    }
}
`;
  }
}

export const csharp: Language = {
  title: 'C# 7 or later',
  files: { rule: 'Signature.cs', test: 'SignatureTest.cs' },
  run: 'mcs -out:SignatureTest.exe Signature.cs SignatureTest.cs && mono SignatureTest.exe',
  comment: '//',
  hasSurrogates: true,
  writer: () => new CsharpWriter(),
};
