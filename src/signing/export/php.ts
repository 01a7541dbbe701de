import {
  aboutUrl,
  bare,
  hex,
  type Language,
  quoted,
  sigmaClasses,
  type WrapStyle,
  Writer,
  wrapped,
} from './language.js';
import type { Expression, Operation, PairSelection, TextOperation } from './operations.js';

const helpers = {
  utf16: `
/** The sort key of a text: its UTF-16 code units. */
function utf16(string $text): string
{
    return iconv('UTF-8', 'UTF-16BE', $text);
}`,
  lower: `
/** Lower case as in Unicode: PHP before 8.3 does not know the sigma that ends a word. */
function lower(string $text): string
{
    $cased = '${sigmaClasses.cased}';
    $ignored = '${sigmaClasses.ignored}*+';
    $text = preg_replace("/$cased$ignored\\K\\x{3a3}(?!$ignored$cased)/u", "\\u{3c2}", $text);
    return mb_strtolower($text, 'UTF-8');
}`,
  form: `
function form(string $text): string
{
    return str_replace('%2A', '*', urlencode($text));
}`,
  form_dotnet: `
function form_dotnet(string $text): string
{
    $escaped = preg_replace_callback('/%../', fn ($found) => strtolower($found[0]), urlencode($text));
    return str_replace(['%21', '%28', '%29', '%2a'], ['!', '(', ')', '*'], $escaped);
}`,
  reverse: `
function reverse(string $text): string
{
    return implode('', array_reverse(preg_split('//u', $text, -1, PREG_SPLIT_NO_EMPTY)));
}`,
  json_string: `
function json_string(string $text): string
{
    return json_encode($text, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS);
}`,
  base64url: `
function base64url(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}`,
  from_base64: `
function from_base64(string $text): string
{
    if (!preg_match('~^(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}$~D', $text)) {
        throw new \\InvalidArgumentException('the key is not base64');
    }
    return base64_decode(strtr(rtrim($text, '='), '-_', '+/'));
}`,
  from_hex: `
function from_hex(string $text): string
{
    if (!preg_match('/^(?:[0-9A-Fa-f]{2})*$/D', $text)) {
        throw new \\InvalidArgumentException('the key is not hex');
    }
    return hex2bin($text);
}`,
  first: `
function first(array $params, string $wanted): string
{
    foreach ($params as [$name, $value]) {
        if ($name === $wanted) {
            return $value;
        }
    }
    return '';
}`,
  host: `
function host(string $url): string
{
    return preg_match('~^[a-z][a-z0-9+.-]*://([^/]*)~i', $url, $found) ? $found[1] : '';
}`,
  path: `
function path(string $url): string
{
    if (!preg_match('~^[a-z][a-z0-9+.-]*://[^/]*(.*)$~isD', $url, $found)) {
        return $url;
    }
    return $found[1] === '' ? '/' : $found[1];
}`,
  without_prefix: `
function without_prefix(string $text, string $prefix): string
{
    return str_starts_with($text, $prefix) ? substr($text, strlen($prefix)) : $text;
}`,
  join_repeated: `
function join_repeated(array $pairs, string $separator): array
{
    $joined = [];
    foreach ($pairs as [$name, $value]) {
        $known = array_search($name, array_column($joined, 0), true);
        if ($known === false) {
            $joined[] = [$name, $value];
        } else {
            $joined[$known][1] .= $separator . $value;
        }
    }
    return $joined;
}`,
};

function literal(text: string): string {
  if (/^[ -~]*$/.test(text)) return `'${text.replace(/[\\']/g, '\\$&')}'`;
  return quoted(text, (code) => (code < 0x80 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`), '\\"$');
}

class PhpWriter extends Writer {
  literal = literal;

  override variable(name: string): string {
    return `$${name}`;
  }

  input(name: 'method' | 'url' | 'body' | 'secret'): string {
    return name === 'body' ? "($body ?? '')" : `$${name}`;
  }

  search(): string {
    return "($query === '' ? '' : '?' . $query)";
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${isIn ? '' : '!'}in_array(${name}, ${list}, true)`;
  }

  startsWith(name: string, prefix: string): string {
    return `str_starts_with(${name}, ${prefix})`;
  }

  extra(name: string): string {
    return `($extra[${literal(name)}] ?? '')`;
  }

  join(parts: readonly string[]): string {
    return parts.join(' . ');
  }

  joinBytes(parts: readonly string[]): string {
    return parts.join(' . ');
  }

  utf8(text: string): string {
    return text;
  }

  pairs(each: string, separator: string): string {
    return `implode(${separator}, array_map(fn ($pair) => ${each}, $pairs))`;
  }

  override pairVariables = { name: '$pair[0]', value: '$pair[1]' };

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    return `strtr(${bare(text)}, [${table.map((row) => row.map(literal).join(' => ')).join(', ')}])`;
  }

  change(text: string, change: TextOperation, isAscii: boolean): string {
    switch (change) {
      case 'upper':
        return isAscii ? `strtoupper(${bare(text)})` : `mb_strtoupper(${bare(text)}, 'UTF-8')`;
      case 'lower':
        return isAscii ? `strtolower(${bare(text)})` : this.call('lower', text);
      case 'base64':
        return `base64_encode(${bare(text)})`;
      case 'rfc3986':
        return `rawurlencode(${bare(text)})`;
      case 'json':
        return this.call('json_string', text);
      default:
        return this.call(change.replace('-', '_'), text);
    }
  }

  slice(text: string, from: number, to: number): string {
    return `substr(${bare(text)}, ${from}, ${to - from})`;
  }

  decode(text: string, decoding: 'hex' | 'base64'): string {
    return this.call(decoding === 'hex' ? 'from_hex' : 'from_base64', text);
  }

  digest(
    data: string,
    key: string | null,
    { algorithm, format }: Extract<Expression, { is: 'digest' }>,
  ): string {
    const digest = (more: string) =>
      key === null
        ? `hash('${algorithm}', ${bare(data)}${more})`
        : `hash_hmac('${algorithm}', ${bare(data)}, ${key}${more})`;
    switch (format) {
      case 'raw':
        return digest(', true');
      case 'hex':
        return digest('');
      case 'HEX':
        return `strtoupper(${digest('')})`;
      case 'base64':
        return `base64_encode(${digest(', true')})`;
      case 'base64url':
        return this.call('base64url', digest(', true'));
      case 'base64-of-hex':
        return `base64_encode(${digest('')})`;
    }
  }

  operation(operation: Operation): string[] {
    if (operation.set === 'pairs') return this.#select(operation);
    if (operation.set === 'query') return ["[$url, $query] = array_pad(explode('?', $url, 2), 2, '');"];
    const value = this.expression(operation.value);
    if (operation.set === 'write') return [`$write = fn ($text) => ${value};`];
    return [
      operation.variable === 'signature'
        ? `return ${bare(value)};`
        : `$${operation.variable} = ${bare(value)};`,
    ];
  }

  #select(selection: PairSelection): string[] {
    const { nameCase, dropsEmpty, joinRepeated, add, order } = selection;
    const fixed = order !== null && !('key' in order) ? order : null;
    const conditions = [
      ...this.conditions(selection, '$pair[0]', (names) => `[${names.map(literal).join(', ')}]`),
      ...(dropsEmpty ? [`$pair[1] !== ''`] : []),
    ];
    const folded =
      nameCase === 'none'
        ? '$params'
        : `array_map(fn ($pair) => [${this.change('$pair[0]', nameCase, false)}, $pair[1]], $params)`;
    const selected =
      conditions.length === 0
        ? folded
        : `array_values(array_filter(${folded}, fn ($pair) => ${conditions.join(' && ')}))`;
    const joined =
      joinRepeated === null ? selected : this.call('join_repeated', selected, literal(joinRepeated));
    return [
      ...(fixed === null ? [] : [`$order = [${fixed.map(literal).join(', ')}];`]),
      `$pairs = ${joined};`,
      ...add.flatMap((added) => {
        const value = this.expression(added.value);
        const append = `$pairs[] = [${literal(added.name)}, ${bare(value)}];`;
        return added.isOptional ? [`if (${value} !== '') {`, `    ${append}`, '}'] : [append];
      }),
      ...(order === null ? [] : [`usort($pairs, fn ($a, $b) => ${this.#compare(order)});`]),
    ];
  }

  #compare(order: NonNullable<PairSelection['order']>): string {
    if (!('key' in order)) {
      const place = (pair: string) => `array_search(${pair}[0], $order, true)`;
      return `${place('$a')} <=> ${place('$b')}`;
    }
    const key = (pair: string) =>
      this.call('utf16', this.expression(order.key, { name: `${pair}[0]`, value: `${pair}[1]` }));
    return `strcmp(${key('$a')}, ${key('$b')})`;
  }
}

const testStyle: WrapStyle = { indent: '    ', chains: false, depth: 1 };

export const php: Language = {
  title: 'PHP 8.0 or later',
  files: { rule: 'signature.php', test: 'signature_test.php' },
  run: 'php signature_test.php',
  comment: '//',
  hasSurrogates: false,
  rule(rules, header) {
    const writer = new PhpWriter(helpers);
    const functions = rules.map((rule) => {
      const { name, operations } = rule;
      return [
        `/** $params: [name, value] pairs, decoded, in the order of the request, without ${name}.${aboutUrl(rule)} */`,
        `function ${name}(string $method, string $url, array $params, ?string $body, array $extra, string $secret): string`,
        '{',
        ...writer.body(operations, { indent: '    ', chains: false, depth: 0 }),
        '}',
      ].join('\n');
    });
    return `<?php\n\n${header}\ndeclare(strict_types=1);\n\n${[...functions, ...writer.helpers()].join('\n\n')}\n`;
  },
  test(cases, header) {
    const rows = cases.map(({ rule, name, request, secret, signature }) => {
      const { method, url, params, body, extra } = request;
      const pairs = params.map((pair) => `[${pair.map(literal).join(', ')}]`);
      const extras = Object.entries(extra).map((entry) => entry.map(literal).join(' => '));
      const given = `${literal(method)}, ${literal(url)}, [${pairs.join(', ')}], ${body === null ? 'null' : literal(body)}`;
      return `    [${literal(`${rule}: ${name}`)}, ${rule}(${given}, [${extras.join(', ')}], ${literal(secret)}), ${literal(signature)}],`;
    });
    return `<?php

${header}
declare(strict_types=1);

require __DIR__ . '/signature.php';

$failed = 0;
$cases = [
${rows.flatMap((row) => wrapped(row, testStyle)).join('\n')}
];
foreach ($cases as [$name, $signature, $expected]) {
    if ($signature !== $expected) {
        $failed++;
        echo "$name: $signature is not $expected\\n";
    }
}
echo count($cases) - $failed, " passed, $failed failed\\n";
exit($failed === 0 ? 0 : 1);
`;
  },
};
