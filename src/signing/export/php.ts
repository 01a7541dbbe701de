import type { Algorithm } from '../digest-algorithms.js';
import type { TextOperation } from './expression.js';
import { type DigestFormat, type ExportedCase, type Language, Writer } from './language.js';
import { bare } from './layout.js';
import { sigmaClasses } from './letter-case.js';
import { hex, quoted } from './literals.js';
import type { PairSelection } from './operations.js';

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
  readonly helpers = helpers;
  override style = { indent: '    ', chains: false, depth: 0 };
  override pairVariables = { name: '$pair[0]', value: '$pair[1]' };
  literal = literal;
  body = "($body ?? '')";
  search = "($query === '' ? '' : '?' . $query)";

  file(functions: readonly string[], used: readonly string[], header: string): string {
    return `<?php\n\n${header}\ndeclare(strict_types=1);\n\n${[...functions, ...used].join('\n\n')}\n`;
  }

  function(name: string, aboutUrl: string, body: readonly string[]): string[] {
    return [
      `/** $params: [name, value] pairs, decoded, in the order of the request, without ${name}.${aboutUrl} */`,
      `function ${name}(string $method, string $url, array $params, ?string $body, array $extra, string $secret): string`,
      '{',
      ...body,
      '}',
    ];
  }

  override variable(name: string): string {
    return `$${name}`;
  }

  takeQuery(): string[] {
    return ["[$url, $query] = array_pad(explode('?', $url, 2), 2, '');"];
  }

  defineWrite(value: string): string[] {
    return [`$write = fn ($text) => ${value};`];
  }

  select(selection: PairSelection): string[] {
    const { nameCase, add } = selection;
    const conditions = this.conditions(selection);
    const folded =
      nameCase === 'none'
        ? '$params'
        : `array_map(fn ($pair) => [${this.change('$pair[0]', nameCase, false)}, $pair[1]], $params)`;
    const selected =
      conditions.length === 0
        ? folded
        : `array_values(array_filter(${folded}, fn ($pair) => ${conditions.join(' && ')}))`;
    const compare = this.#compare(selection);
    return [
      `$pairs = ${this.joined(selected, selection)};`,
      ...add.flatMap((added) => {
        const value = this.expression(added.value);
        const append = `$pairs[] = [${literal(added.name)}, ${bare(value)}];`;
        return added.isOptional ? [`if (${this.isNotEmpty(value)}) {`, `    ${append}`, '}'] : [append];
      }),
      ...(compare === null ? [] : [`usort($pairs, fn ($a, $b) => ${compare});`]),
    ];
  }

  /** `null` for the request order. */
  #compare({ order, sortKey }: PairSelection): string | null {
    if (order !== null) {
      const place = (pair: string) => `array_search(${pair}[0], $order, true)`;
      return `${place('$a')} <=> ${place('$b')}`;
    }
    if (sortKey === null) return null;
    const key = (pair: string) =>
      this.call('utf16', this.expression(sortKey, { name: `${pair}[0]`, value: `${pair}[1]` }));
    return `strcmp(${key('$a')}, ${key('$b')})`;
  }

  isIn(list: string, name: string, isIn: boolean): string {
    return `${isIn ? '' : '!'}in_array(${name}, ${list}, true)`;
  }

  override startsWith(name: string, prefix: string): string {
    return `str_starts_with(${name}, ${prefix})`;
  }

  override isNotEmpty(text: string): string {
    return `${text} !== ''`;
  }

  extra(name: string): string {
    return `($extra[${literal(name)}] ?? '')`;
  }

  override join(parts: readonly string[]): string {
    return parts.join(' . ');
  }

  override joinBytes(parts: readonly string[]): string {
    return this.join(parts);
  }

  override utf8(text: string): string {
    return text;
  }

  pairs(each: string, separator: string): string {
    return `implode(${separator}, array_map(fn ($pair) => ${each}, $pairs))`;
  }

  escape(text: string, table: readonly (readonly [string, string])[]): string {
    return `strtr(${bare(text)}, [${table.map((row) => row.map(literal).join(' => ')).join(', ')}])`;
  }

  override change(text: string, change: TextOperation, isAscii: boolean): string {
    switch (change) {
      case 'upper':
        return isAscii ? `strtoupper(${bare(text)})` : `mb_strtoupper(${bare(text)}, 'UTF-8')`;
      case 'lower':
        return isAscii ? `strtolower(${bare(text)})` : this.call('lower', text);
      case 'base64':
        return `base64_encode(${bare(text)})`;
      case 'rfc3986':
        return `rawurlencode(${bare(text)})`;
      default:
        return super.change(text, change, isAscii);
    }
  }

  override slice(text: string, from: number, to: number): string {
    return `substr(${bare(text)}, ${from}, ${to - from})`;
  }

  digest(data: string, key: string | null, algorithm: Algorithm, format: DigestFormat): string {
    const raw = format === 'hex' ? '' : ', true';
    const digest =
      key === null
        ? `hash('${algorithm}', ${bare(data)}${raw})`
        : `hash_hmac('${algorithm}', ${bare(data)}, ${key}${raw})`;
    switch (format) {
      case 'base64':
        return `base64_encode(${digest})`;
      case 'base64url':
        return this.call('base64url', digest);
      default:
        return digest;
    }
  }

  test(cases: readonly ExportedCase[], header: string): string {
    const rows = cases.flatMap(({ rule, title, method, url, params, body, extra, secret, signature }) => {
      const pairs = params.map((pair) => `[${pair.join(', ')}]`).join(', ');
      const extras = extra.map((entry) => entry.join(' => ')).join(', ');
      const call = `${rule}(${method}, ${url}, [${pairs}], ${body ?? 'null'}, [${extras}], ${secret})`;
      return this.testLines(`    [${title}, ${call}, ${signature}],`);
    });
    return `<?php

${header}
declare(strict_types=1);

require __DIR__ . '/signature.php';

$failed = 0;
$cases = [
${rows.join('\n')}
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
  }
}

export const php: Language = {
  title: 'PHP 8.0 or later',
  files: { rule: 'signature.php', test: 'signature_test.php' },
  run: 'php signature_test.php',
  comment: '//',
  hasSurrogates: false,
  writer: () => new PhpWriter(),
};
