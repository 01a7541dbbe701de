<?php

// HEADER

declare(strict_types=1);

namespace Signing;

/**
 * Method, URL and body of "read" or "passback", as they are sent. $query: from tenant_code on; random and
 * timestamp where they are not to be new. $fields: those of the form of a passback.
 *
 * @param list<array{string, string}> $query
 * @param list<array{string, string}> $fields
 * @return array{string, string, string}
 */
function signed_request(
    string $operation,
    string $base_url,
    array $query,
    array $fields,
    string $secret
): array {
    [$method, $endpoint] = [
        'read' => ['GET', '/api/v1/server/user/user_info_for_third'],
        'passback' => ['PUT', '/api/v1/server/user/passback_user_info'],
    ][$operation];
    if (!in_array('random', array_column($query, 0), true)) {
        $query[] = ['random', bin2hex(random_bytes(8))];
    }
    if (!in_array('timestamp', array_column($query, 0), true)) {
        $query[] = ['timestamp', (string) time()];
    }
    $body = encode_pairs($fields);
    $url = $base_url . $endpoint . '?';
    $params = [...$query, ...$fields];
    $query[] = ['app_sign', app_sign($method, $url . encode_pairs($query), $params, $body, $secret)];
    $params = [...$query, ...$fields];
    $query[] = ['sign', sign($method, $url . encode_pairs($query), $params, $body, $secret)];
    return [$method, $url . encode_pairs($query), $body];
}

/**
 * $params: [name, value] pairs, decoded, in the order of the request, without sign.
 *
 * @param list<array{string, string}> $params
 */
function sign(string $method, string $url, array $params, ?string $body, string $secret): string
{
    // RULE
    $pair = fn (string $name, string $value): string => $name . '=' . $value;
    $pairs = sort_by($params, $pair);
    return to_hex(digest('md5', join_pairs($pairs, '&', $pair) . $secret));
}

/**
 * In place of app_sign where a rule has one signature.
 *
 * @param list<array{string, string}> $params
 */
function app_sign(string $method, string $url, array $params, ?string $body, string $secret): string
{
    return sign($method, $url, $params, $body, $secret);
}

function encode_pairs(array $pairs): string
{
    return join_pairs($pairs, '&', fn (string $name, string $value): string => rfc3986($name) . '=' . rfc3986($value));
}

function upper_names(array $pairs): array
{
    return array_map(fn (array $pair): array => [upper($pair[0]), $pair[1]], $pairs);
}

function only(array $pairs, array $names): array
{
    return array_values(array_filter($pairs, fn (array $pair): bool => in_array($pair[0], $names, true)));
}

function without(array $pairs, array $names): array
{
    return array_values(array_filter($pairs, fn (array $pair): bool => !in_array($pair[0], $names, true)));
}

/** The fields of a form; those of the query where there is no form. */
function form_or_query(array $pairs, array $names): array
{
    return only($pairs, $names) ?: $pairs;
}

function reversed_pairs(array $pairs): array
{
    return array_reverse($pairs);
}

function drop_empty(array $pairs): array
{
    return array_values(array_filter($pairs, fn (array $pair): bool => $pair[1] !== ''));
}

function with_pair(array $pairs, string $name, string $value): array
{
    return [...$pairs, [$name, $value]];
}

/** The pairs of these names, in their order. */
function in_order(array $pairs, array $names): array
{
    $place = fn (array $pair) => array_search($pair[0], $names, true);
    $named = array_filter($pairs, fn (array $pair): bool => $place($pair) !== false);
    usort($named, fn (array $a, array $b): int => $place($a) <=> $place($b));
    return $named;
}

/** Sorts by UTF-16 code unit. */
function sort_by(array $pairs, callable $key): array
{
    $units = fn (array $pair): string => iconv('UTF-8', 'UTF-16BE', $key($pair[0], $pair[1]));
    usort($pairs, fn (array $a, array $b): int => strcmp($units($a), $units($b)));
    return $pairs;
}

function join_pairs(array $pairs, string $separator, callable $write): string
{
    return implode($separator, array_map(fn (array $pair): string => $write($pair[0], $pair[1]), $pairs));
}

/** The first parameter of this name. */
function param(array $params, string $wanted): string
{
    foreach ($params as [$name, $value]) {
        if ($name === $wanted) {
            return $value;
        }
    }
    throw new \InvalidArgumentException("the parameter $wanted is missing");
}

function text_of(?string $body): string
{
    return $body ?? '';
}

function query_of(string $url): string
{
    return explode('?', $url, 2)[1] ?? '';
}

function without_query(string $url): string
{
    return explode('?', $url, 2)[0];
}

function host(string $url): string
{
    return preg_match('~^[a-z][a-z0-9+.-]*://([^/]*)~i', $url, $found) ? $found[1] : '';
}

function path(string $url): string
{
    if (!preg_match('~^[a-z][a-z0-9+.-]*://[^/]*(.*)$~isD', $url, $found)) {
        return $url;
    }
    return $found[1] === '' ? '/' : $found[1];
}

function from_segment(string $text, string $segment): string
{
    $at = strpos($text, $segment);
    return $at === false ? $text : substr($text, $at);
}

function upper(string $text): string
{
    return mb_strtoupper($text, 'UTF-8');
}

/** Lower case as in Unicode: PHP before 8.3 does not know the sigma that ends a word. */
function lower(string $text): string
{
    $cased = '[\p{Lu}\p{Ll}\p{Lt}\x{aa}\x{ba}\x{2160}-\x{217f}\x{24b6}-\x{24e9}'
        . '\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}]';
    $ignored = "[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:\\x{b7}\\x{387}\\x{55f}\\x{5f4}\\x{2018}\\x{2019}"
        . '\x{2024}\x{2027}\x{fe13}\x{fe52}\x{fe55}\x{ff07}\x{ff0e}\x{ff1a}]*+';
    $text = preg_replace("/$cased$ignored\\K\\x{3a3}(?!$ignored$cased)/u", "\u{3c2}", $text);
    return mb_strtolower($text, 'UTF-8');
}

function upper_ascii(string $text): string
{
    return strtoupper($text);
}

function lower_ascii(string $text): string
{
    return strtolower($text);
}

function cut(string $text, int $start, int $end): string
{
    return substr($text, $start, $end - $start);
}

function form(string $text): string
{
    return str_replace('%2A', '*', urlencode($text));
}

function form_php(string $text): string
{
    return urlencode($text);
}

function form_python(string $text): string
{
    return str_replace('%7E', '~', urlencode($text));
}

function form_dotnet(string $text): string
{
    $escaped = preg_replace_callback(
        '/%../',
        fn (array $found): string => strtolower($found[0]),
        urlencode($text)
    );
    return str_replace(['%21', '%28', '%29', '%2a'], ['!', '(', ')', '*'], $escaped);
}

function rfc3986(string $text): string
{
    return rawurlencode($text);
}

function javascript(string $text): string
{
    return str_replace(['%21', '%27', '%28', '%29', '%2A'], ['!', "'", '(', ')', '*'], rawurlencode($text));
}

function from_hex(string $text): string
{
    if (!preg_match('/^(?:[0-9A-Fa-f]{2})*$/D', $text)) {
        throw new \InvalidArgumentException('the key is not hex');
    }
    return hex2bin($text);
}

function from_base64(string $text): string
{
    if (!preg_match('~^(?:[A-Za-z0-9_+/-]{4})*(?:[A-Za-z0-9_+/-]{2,3})?={0,2}$~D', $text)) {
        throw new \InvalidArgumentException('the key is not base64');
    }
    return base64_decode(strtr(rtrim($text, '='), '-_', '+/'));
}

function digest(string $algorithm, string $data): string
{
    return hash($algorithm, $data, true);
}

function keyed_digest(string $algorithm, string $key, string $data): string
{
    return hash_hmac($algorithm, $data, $key, true);
}

function to_hex(string $data): string
{
    return bin2hex($data);
}

function to_base64(string $data): string
{
    return base64_encode($data);
}

function to_base64url(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}
