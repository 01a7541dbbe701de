import {
  aboutUrl,
  bare,
  camelCase,
  type Language,
  outsideLiterals,
  quoted,
  receiver,
  sigmaClasses,
  utf16Escape,
  type WrapStyle,
  Writer,
  wrapped,
} from './language.js';
import type { Expression, Operation, PairSelection, TextOperation } from './operations.js';

const helpers = {
  utf8: `
/** UTF-8; U+FFFD for an unpaired surrogate, where getBytes writes "?". */
private static byte[] utf8(String text) {
    int[] points = text.codePoints().map(point -> point >= 0xd800 && point <= 0xdfff ? 0xfffd : point).toArray();
    return new String(points, 0, points.length).getBytes(StandardCharsets.UTF_8);
}`,
  lower: `
/** Lower case as in Unicode: toLowerCase goes on beyond hyphens and digits to find where a word ends with sigma. */
private static String lower(String text) {
    String cased = "${sigmaClasses.cased.replaceAll('\\', '\\\\')}";
    String ignored = "${sigmaClasses.ignored.replaceAll('\\', '\\\\')}*+";
    return text.replaceAll("(" + cased + ignored + ")\\u03a3(?!" + ignored + cased + ")", "$1\\u03c2")
        .replace('\\u03a3', '\\u03c3').toLowerCase(Locale.ROOT);
}`,
  form: `
private static String form(String text) {
    return URLEncoder.encode(new String(utf8(text), StandardCharsets.UTF_8), StandardCharsets.UTF_8);
}`,
  formDotnet: `
private static String formDotnet(String text) {
    String escaped = Pattern.compile("%..").matcher(form(text)).replaceAll(found -> found.group().toLowerCase(Locale.ROOT));
    return escaped.replace("%21", "!").replace("%28", "(").replace("%29", ")");
}`,
  rfc3986: `
private static String rfc3986(String text) {
    return form(text).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
}`,
  jsonString: `
/** A JSON string as JavaScript writes it: an unpaired surrogate is escaped. */
private static String jsonString(String text) {
    StringBuilder json = new StringBuilder("\\"");
    text.codePoints().forEach(point -> {
        int known = "\\"\\\\\\b\\f\\n\\r\\t".indexOf(point);
        if (known >= 0) json.append('\\\\').append("\\"\\\\bfnrt".charAt(known));
        else if (point < 0x20 || (point >= 0xd800 && point <= 0xdfff)) json.append(String.format("\\\\u%04x", point));
        else json.appendCodePoint(point);
    });
    return json.append('"').toString();
}`,
  digest: `
private static byte[] digest(String algorithm, byte[] data) {
    try {
        return MessageDigest.getInstance(algorithm).digest(data);
    } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
    }
}`,
  hmac: `
private static byte[] hmac(String algorithm, byte[] key, byte[] data) {
    try {
        Mac mac = Mac.getInstance(algorithm);
        // An empty key is that of one zero byte, which Java takes.
        mac.init(new SecretKeySpec(key.length == 0 ? new byte[1] : key, algorithm));
        return mac.doFinal(data);
    } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
    }
}`,
  concat: `
private static byte[] concat(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) all.writeBytes(part);
    return all.toByteArray();
}`,
  hex: `
private static String hex(byte[] data) {
    return HexFormat.of().formatHex(data);
}`,
  fromBase64: `
private static byte[] fromBase64(String text) {
    if (!text.matches("(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}")) {
        throw new IllegalArgumentException("the key is not base64");
    }
    return Base64.getDecoder().decode(text.replace("=", "").replace('-', '+').replace('_', '/'));
}`,
  slice: `
private static String slice(String text, int start, int end) {
    return text.substring(Math.min(start, text.length()), Math.min(end, text.length()));
}`,
  first: `
private static String first(List<Map.Entry<String, String>> params, String name) {
    return params.stream().filter(pair -> pair.getKey().equals(name))
        .map(Map.Entry::getValue).findFirst().orElse("");
}`,
  host: `
private static String host(String url) {
    Matcher found = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://([^/]*)").matcher(url);
    return found.lookingAt() ? found.group(1) : "";
}`,
  path: `
private static String path(String url) {
    Matcher found = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://[^/]*(.*)", Pattern.DOTALL).matcher(url);
    if (!found.matches()) return url;
    return found.group(1).isEmpty() ? "/" : found.group(1);
}`,
  withoutPrefix: `
private static String withoutPrefix(String text, String prefix) {
    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
}`,
  joinRepeated: `
private static List<Map.Entry<String, String>> joinRepeated(List<Map.Entry<String, String>> pairs, String separator) {
    Map<String, String> values = new LinkedHashMap<>();
    for (Map.Entry<String, String> pair : pairs) {
        values.merge(pair.getKey(), pair.getValue(), (before, value) -> before + separator + value);
    }
    return new ArrayList<>(values.entrySet());
}`,
  replaceAll: `
private static String replaceAll(String text, Map<String, String> table, String pattern) {
    return Pattern.compile(pattern).matcher(text)
        .replaceAll(found -> Matcher.quoteReplacement(table.get(found.group())));
}`,
};

const imports: readonly (readonly [uses: RegExp, name: string])[] = [
  [/\bByteArrayOutputStream\b/, 'java.io.ByteArrayOutputStream'],
  [/\bURLEncoder\b/, 'java.net.URLEncoder'],
  [/\bStandardCharsets\b/, 'java.nio.charset.StandardCharsets'],
  [/\bGeneralSecurityException\b/, 'java.security.GeneralSecurityException'],
  [/\bMessageDigest\b/, 'java.security.MessageDigest'],
  [/\bArrayList\b/, 'java.util.ArrayList'],
  [/\bBase64\b/, 'java.util.Base64'],
  [/\bComparator\b/, 'java.util.Comparator'],
  [/\bHexFormat\b/, 'java.util.HexFormat'],
  [/\bLinkedHashMap\b/, 'java.util.LinkedHashMap'],
  [/\bList\b/, 'java.util.List'],
  [/\bLocale\b/, 'java.util.Locale'],
  [/\bMap\b/, 'java.util.Map'],
  [/\bMatcher\b/, 'java.util.regex.Matcher'],
  [/\bPattern\b/, 'java.util.regex.Pattern'],
  [/\bUnaryOperator\b/, 'java.util.function.UnaryOperator'],
  [/\bCollectors\b/, 'java.util.stream.Collectors'],
  [/\bMac\b/, 'javax.crypto.Mac'],
  [/\bSecretKeySpec\b/, 'javax.crypto.spec.SecretKeySpec'],
];

/** Control characters as octal: Java reads \u000d before it reads the literal. */
function literal(text: string): string {
  return quoted(text, (code) => (code < 0x20 ? `\\${code.toString(8).padStart(3, '0')}` : utf16Escape(code)));
}

const digests = {
  md5: 'MD5',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
} as const;

class JavaWriter extends Writer {
  override helperName = camelCase;

  literal = literal;

  input(name: 'method' | 'url' | 'body' | 'secret'): string {
    return name === 'body' ? '(body == null ? "" : body)' : name;
  }

  search(): string {
    return '(query.isEmpty() ? "" : "?" + query)';
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${isIn ? '' : '!'}${list}.contains(${name})`;
  }

  startsWith(name: string, prefix: string): string {
    return `${name}.startsWith(${prefix})`;
  }

  extra(name: string): string {
    return `extra.getOrDefault(${literal(name)}, "")`;
  }

  join(parts: readonly string[]): string {
    return parts.join(' + ');
  }

  joinBytes(parts: readonly string[]): string {
    return this.call('concat', ...parts);
  }

  utf8(text: string): string {
    return this.call('utf8', text);
  }

  pairs(each: string, separator: string): string {
    return `pairs.stream().map(pair -> ${each}).collect(Collectors.joining(${separator}))`;
  }

  override pairVariables = { name: 'pair.getKey()', value: 'pair.getValue()' };

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    const entries = table.map((row) => `Map.entry(${row.map(literal).join(', ')})`).join(', ');
    const pattern = table.map(([from]) => from.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
    return this.call('replaceAll', text, `Map.ofEntries(${entries})`, literal(pattern));
  }

  change(text: string, change: TextOperation, isAscii: boolean): string {
    switch (change) {
      case 'upper':
        return `${receiver(text)}.toUpperCase(Locale.ROOT)`;
      case 'lower':
        return isAscii ? `${receiver(text)}.toLowerCase(Locale.ROOT)` : this.call('lower', text);
      case 'base64':
        return `Base64.getEncoder().encodeToString(${this.utf8(text)})`;
      case 'form-dotnet':
        return this.call('formDotnet', text);
      case 'json':
        return this.call('jsonString', text);
      case 'reverse':
        return `new StringBuilder(${bare(text)}).reverse().toString()`;
      default:
        return this.call(change, text);
    }
  }

  slice(text: string, from: number, to: number): string {
    return this.call('slice', text, `${from}`, `${to}`);
  }

  decode(text: string, decoding: 'hex' | 'base64'): string {
    return decoding === 'hex' ? `HexFormat.of().parseHex(${text})` : this.call('fromBase64', text);
  }

  digest(
    data: string,
    key: string | null,
    { algorithm, format }: Extract<Expression, { is: 'digest' }>,
  ): string {
    const digest =
      key === null
        ? this.call('digest', `"${digests[algorithm]}"`, data)
        : this.call('hmac', `"Hmac${digests[algorithm].replace('-', '')}"`, key, data);
    switch (format) {
      case 'raw':
        return digest;
      case 'hex':
        return this.call('hex', digest);
      case 'HEX':
        return `${this.call('hex', digest)}.toUpperCase(Locale.ROOT)`;
      case 'base64':
        return `Base64.getEncoder().encodeToString(${digest})`;
      case 'base64url':
        return `Base64.getUrlEncoder().withoutPadding().encodeToString(${digest})`;
      case 'base64-of-hex':
        return `Base64.getEncoder().encodeToString(${this.utf8(this.call('hex', digest))})`;
    }
  }

  operation(operation: Operation): string[] {
    if (operation.set === 'pairs') return this.#select(operation);
    if (operation.set === 'query') {
      return [
        `String query = url.contains("?") ? url.substring(url.indexOf('?') + 1) : "";`,
        'url = url.split("[?]", 2)[0];',
      ];
    }
    const value = this.expression(operation.value);
    if (operation.set === 'write') return [`UnaryOperator<String> write = text -> ${value};`];
    const { set, variable } = operation;
    if (variable === 'signature') return [`return ${bare(value)};`];
    return [`${set === 'bytes' ? 'byte[]' : 'String'} ${variable} = ${bare(value)};`];
  }

  override apply(name: string, given: string): string {
    return `${name}.apply(${given})`;
  }

  #select(selection: PairSelection): string[] {
    const { nameCase, dropsEmpty, joinRepeated, add, order } = selection;
    const fixed = order !== null && !('key' in order) ? order : null;
    const name = 'pair.getKey()';
    const stream = [
      ...(nameCase === 'none'
        ? []
        : [`.map(pair -> Map.entry(${this.change(name, nameCase, false)}, pair.getValue()))`]),
      ...this.conditions(selection, name, (names) => `List.of(${names.map(literal).join(', ')})`).map(
        (condition) => `.filter(pair -> ${bare(condition)})`,
      ),
      ...(dropsEmpty ? ['.filter(pair -> !pair.getValue().isEmpty())'] : []),
    ];
    const selected =
      stream.length === 0
        ? 'new ArrayList<>(params)'
        : `params.stream()${stream.join('')}.collect(Collectors.toCollection(ArrayList::new))`;
    const joined =
      joinRepeated === null ? selected : this.call('joinRepeated', selected, literal(joinRepeated));
    return [
      ...(fixed === null ? [] : [`List<String> order = List.of(${fixed.map(literal).join(', ')});`]),
      `List<Map.Entry<String, String>> pairs = ${joined};`,
      ...add.map((added) => {
        const value = this.expression(added.value);
        const append = `pairs.add(Map.entry(${literal(added.name)}, ${bare(value)}));`;
        return added.isOptional ? `if (!${receiver(value)}.isEmpty()) ${append}` : append;
      }),
      ...(order === null ? [] : [`pairs.sort(${this.#comparator(order)});`]),
    ];
  }

  #comparator(order: NonNullable<PairSelection['order']>): string {
    if (!('key' in order)) return 'Comparator.comparing(pair -> order.indexOf(pair.getKey()))';
    return `Comparator.comparing(pair -> ${this.expression(order.key, this.pairVariables)})`;
  }
}

const testStyle: WrapStyle = { indent: '    ', chains: false, depth: 1 };

export const java: Language = {
  title: 'Java 17 or later',
  files: { rule: 'Signature.java', test: 'SignatureTest.java' },
  run: 'javac Signature.java SignatureTest.java && java SignatureTest',
  comment: '//',
  hasSurrogates: true,
  rule(rules, header) {
    const writer = new JavaWriter(helpers);
    const functions = rules.map((rule) => {
      const { name, operations } = rule;
      return [
        `/** params: the decoded parameters in the order of the request, without ${name}.${aboutUrl(rule)} */`,
        `public static String ${camelCase(name)}(String method, String url, List<Map.Entry<String, String>> params,`,
        '        String body, Map<String, String> extra, String secret) {',
        ...writer.body(operations, { indent: '    ', chains: true, depth: 0 }),
        '}',
      ].join('\n');
    });
    const code = [...functions, ...writer.helpers()]
      .map((one) => one.replace(/^(?=.)/gm, '    '))
      .join('\n\n');
    const used = imports
      .filter(([uses]) => uses.test(outsideLiterals(code)))
      .map(([, name]) => `import ${name};`);
    return `${header}\n${used.join('\n')}\n\npublic final class Signature {\n    private Signature() {}\n\n${code}\n}\n`;
  },
  test(cases, header) {
    const rows = cases.map(({ rule, name, request, secret, signature }) => {
      const { method, url, params, body, extra } = request;
      const entry = (pair: readonly string[]) => `Map.entry(${pair.map(literal).join(', ')})`;
      const given = `${literal(method)}, ${literal(url)}, List.of(${params.map(entry).join(', ')}), ${body === null ? 'null' : literal(body)}`;
      const call = `Signature.${camelCase(rule)}(${given}, Map.ofEntries(${Object.entries(extra).map(entry).join(', ')}), ${literal(secret)})`;
      return `        check(${literal(`${rule}: ${name}`)}, ${call}, ${literal(signature)});`;
    });
    return `${header}
import java.util.List;
import java.util.Map;

public final class SignatureTest {
    private static int failed = 0;

    private static void check(String name, String signature, String expected) {
        if (signature.equals(expected)) return;
        failed++;
        System.out.println(name + ": " + signature + " is not " + expected);
    }

    public static void main(String[] args) {
${rows.flatMap((row) => wrapped(row, testStyle)).join('\n')}
        System.out.println(${cases.length} - failed + " passed, " + failed + " failed");
        if (failed > 0) System.exit(1);
    }
}
`;
  },
};
