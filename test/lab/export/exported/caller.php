<?php

require __DIR__ . '/signature.php';

$query = [['tenant_code', 'acme'], ['app_key', 'app-1'], ['code', 'c 1/2']];
foreach (Signing\signed_query('PUT', 'https://h/p', $query, [['f', '1']], null, 's') as $pair) {
    echo implode('=', $pair), "\n";
}
