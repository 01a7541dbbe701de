<?php

// HEADER

declare(strict_types=1);

namespace Signing;

require __DIR__ . '/signature.php';

$failed = 0;
$check = function (string $title, string $signed, string $expected) use (&$failed): void {
    if ($signed !== $expected) {
        $failed++;
        echo "$title: $signed is not $expected\n";
    }
};

// REQUESTS
$check_request = function (string $title, array $sent, string ...$expected) use ($check): void {
    $check($title, implode("\n", $sent), implode("\n", $expected));
};

// END REQUESTS
// CASES
$check_request('request', ['GET', '/', ''], 'GET', '/', '');
$check('plain', sign('GET', '/', [['a', '1']], null, 'key'), '033225d7ad9c4ca917bad4f75f322790');
// END
echo $failed === 0 ? "all passed\n" : "$failed failed\n";
exit($failed === 0 ? 0 : 1);
