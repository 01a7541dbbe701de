<?php

error_reporting(E_ALL);
require __DIR__ . '/signature.php';
set_error_handler(fn ($level, $message) => throw new ErrorException($message));

function text(string $field): string
{
    return iconv('UTF-16BE', 'UTF-8', hex2bin($field));
}

function pairs(string $field): array
{
    $pairs = array_filter(explode(',', $field), fn ($pair) => $pair !== '');
    return array_map(fn ($pair) => array_map('text', explode('=', $pair)), array_values($pairs));
}

while (($line = fgets(STDIN)) !== false) {
    [$name, $method, $url, $body, $secret, $params] = explode(' ', rtrim($line, "\n"));
    try {
        $body = $body === '-' ? null : text($body);
        $done = "Signing\\$name"(text($method), text($url), pairs($params), $body, text($secret));
        echo bin2hex(iconv('UTF-8', 'UTF-16BE', $done)), "\n";
    } catch (InvalidArgumentException $error) {
        echo '!', bin2hex(iconv('UTF-8', 'UTF-16BE', $error->getMessage())), "\n";
    }
}
