<?php

require __DIR__ . '/signature.php';

$query = [['tenant_code', 'acme'], ['app_key', 'app-1']];
echo 'SENT ', implode(' ', Signing\signed_request('passback', 'https://h/p', $query, [['f', 'c 1/2']], 's')), "\n";
