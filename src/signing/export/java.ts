import type { Algorithm } from '../digest-algorithms.js';
import type { TextOperation } from './expression.js';
import { camelCase, type DigestFormat, type ExportedCase, type Language, Writer } from './language.js';
import { bare, indented, receiver, usedIn } from './layout.js';
import { sigmaClasses } from './letter-case.js';
import { quoted, utf16Escape } from './literals.js';
import type { PairSelection } from './operations.js';

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

const classes = [
  'java.io.ByteArrayOutputStream',
  'java.net.URLEncoder',
  'java.nio.charset.StandardCharsets',
  'java.security.GeneralSecurityException',
  'java.security.MessageDigest',
  'java.util.ArrayList',
  'java.util.Base64',
  'java.util.Comparator',
  'java.util.HexFormat',
  'java.util.LinkedHashMap',
  'java.util.List',
  'java.util.Locale',
  'java.util.Map',
  'java.util.regex.Matcher',
  'java.util.regex.Pattern',
  'java.util.function.UnaryOperator',
  'java.util.stream.Collectors',
  'javax.crypto.Mac',
  'javax.crypto.spec.SecretKeySpec',
].map((path) => [new RegExp(`\\b${path.replace(/.*\./, '')}\\b`), path] as const);

/** Control characters as octal: Java reads \u000d before it reads the literal. */
function literal(text: string): string {
  return quoted(text, (code) => (code < 0x20 ? `\\${code.toString(8).padStart(3, '0')}` : utf16Escape(code)));
}

class JavaWriter extends Writer {
  readonly helpers = helpers;
  override helperName = camelCase;
  override pairVariables = { name: 'pair.getKey()', value: 'pair.getValue()' };
  literal = literal;
  body = '(body == null ? "" : body)';
  search = '(query.isEmpty() ? "" : "?" + query)';

  file(functions: readonly string[], used: readonly string[], header: string): string {
    const code = [...functions, ...used].map(indented).join('\n\n');
    const imports = usedIn(code, classes).map((name) => `import ${name};`);
    return `${header}\n${imports.join('\n')}\n\npublic final class Signature {\n    private Signature() {}\n\n${code}\n}\n`;
  }

  function(name: string, aboutUrl: string, body: readonly string[]): string[] {
    return [
      `/** params: the decoded parameters in the order of the request, without ${name}.${aboutUrl} */`,
      `public static String ${camelCase(name)}(String method, String url, List<Map.Entry<String, String>> params,`,
      '        String body, Map<String, String> extra, String secret) {',
      ...body,
      '}',
    ];
  }

  takeQuery(): string[] {
    return [
      `String query = url.contains("?") ? url.substring(url.indexOf('?') + 1) : "";`,
      'url = url.split("[?]", 2)[0];',
    ];
  }

  defineWrite(value: string): string[] {
    return [`UnaryOperator<String> write = text -> ${value};`];
  }

  override written(text: string): string {
    return `write.apply(${text})`;
  }

  override assign(name: string, value: string, type: 'text' | 'bytes' | 'texts'): string {
    return `${{ text: 'String', bytes: 'byte[]', texts: 'List<String>' }[type]} ${name} = ${value};`;
  }

  select(selection: PairSelection): string[] {
    const { nameCase, add } = selection;
    const { name } = this.pairVariables;
    const stream = [
      ...(nameCase === 'none'
        ? []
        : [`.map(pair -> Map.entry(${this.change(name, nameCase, false)}, pair.getValue()))`]),
      ...this.conditions(selection).map((condition) => `.filter(pair -> ${bare(condition)})`),
    ];
    const selected =
      stream.length === 0
        ? 'new ArrayList<>(params)'
        : `params.stream()${stream.join('')}.collect(Collectors.toCollection(ArrayList::new))`;
    const key = this.#sortKey(selection);
    return [
      `List<Map.Entry<String, String>> pairs = ${this.joined(selected, selection)};`,
      ...add.map((added) => {
        const value = this.expression(added.value);
        const append = `pairs.add(Map.entry(${literal(added.name)}, ${bare(value)}));`;
        return added.isOptional ? `if (${this.isNotEmpty(value)}) ${append}` : append;
      }),
      ...(key === null ? [] : [`pairs.sort(Comparator.comparing(pair -> ${key}));`]),
    ];
  }

  /** `null` for the request order. */
  #sortKey({ order, sortKey }: PairSelection): string | null {
    if (order !== null) return 'order.indexOf(pair.getKey())';
    return sortKey && this.expression(sortKey, this.pairVariables);
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${isIn ? '' : '!'}${list}.contains(${name})`;
  }

  override isNotEmpty(text: string): string {
    return `!${receiver(text)}.isEmpty()`;
  }

  override list(texts: string): string {
    return `List.of(${texts})`;
  }

  extra(name: string): string {
    return `extra.getOrDefault(${literal(name)}, "")`;
  }

  pairs(each: string, separator: string): string {
    return `pairs.stream().map(pair -> ${each}).collect(Collectors.joining(${separator}))`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    const entries = table.map((row) => `Map.entry(${row.map(literal).join(', ')})`).join(', ');
    const pattern = table.map(([from]) => from.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
    return this.call('replaceAll', text, `Map.ofEntries(${entries})`, literal(pattern));
  }

  override change(text: string, change: TextOperation, isAscii: boolean): string {
    if (change === 'upper') return `${receiver(text)}.toUpperCase(Locale.ROOT)`;
    if (change === 'lower' && isAscii) return `${receiver(text)}.toLowerCase(Locale.ROOT)`;
    if (change === 'base64') return `Base64.getEncoder().encodeToString(${this.utf8(text)})`;
    if (change === 'reverse') return `new StringBuilder(${bare(text)}).reverse().toString()`;
    return super.change(text, change, isAscii);
  }

  override decode(text: string, decoding: 'hex' | 'base64'): string {
    return decoding === 'hex' ? `HexFormat.of().parseHex(${text})` : super.decode(text, decoding);
  }

  digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string {
    const name = algorithm.toUpperCase();
    const digest =
      key === null
        ? this.call('digest', `"${name.replace('SHA', 'SHA-')}"`, data)
        : this.call('hmac', `"Hmac${name}"`, key, data);
    switch (format) {
      case 'raw':
        return digest;
      case 'hex':
        return this.call('hex', digest);
      case 'base64':
        return `Base64.getEncoder().encodeToString(${digest})`;
      case 'base64url':
        return `Base64.getUrlEncoder().withoutPadding().encodeToString(${digest})`;
    }
  }

  test(cases: readonly ExportedCase[], header: string): string {
    const rows = cases.flatMap(({ rule, title, method, url, params, body, extra, secret, signature }) => {
      const entries = (pairs: typeof params) =>
        pairs.map((pair) => `Map.entry(${pair.join(', ')})`).join(', ');
      const given = `${method}, ${url}, List.of(${entries(params)}), ${body ?? 'null'}, Map.ofEntries(${entries(extra)}), ${secret}`;
      return this.testLines(`        check(${title}, Signature.${camelCase(rule)}(${given}), ${signature});`);
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
${rows.join('\n')}
        System.out.println(${cases.length} - failed + " passed, " + failed + " failed");
        if (failed > 0) System.exit(1);
    }
}
`;
  }
}

export const java: Language = {
  title: 'Java 17 or later',
  files: { rule: 'Signature.java', test: 'SignatureTest.java' },
  run: 'javac Signature.java SignatureTest.java && java SignatureTest',
  comment: '//',
  hasSurrogates: true,
  writer: () => new JavaWriter(),
};
