#!/bin/sh
# Makes the certificates that the tests of TLS use; they hold until 2126, but for the one that has expired. The keys
# guard nothing: they are for servers on this machine, and nobody trusts the authority that signs here.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
sign() { # name, host names, first day, last day
  openssl req -new -key server.key -subj "/CN=$1" -out "$work/$1.csr"
  printf 'subjectAltName=%s\nbasicConstraints=CA:FALSE\n' "$2" > "$work/$1.ext"
  openssl ca -batch -notext -config "$work/ca.conf" -name ca -in "$work/$1.csr" -out "$1.crt" \
    -extfile "$work/$1.ext" -startdate "$3" -enddate "$4" 2> /dev/null
}

key server.key
key "$work/ca.key"
openssl req -new -x509 -key "$work/ca.key" -subj '/CN=Test Authority' -days 36500 -out ca.crt
openssl req -new -x509 -key server.key -subj '/CN=self-signed' -days 36500 \
  -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -out self-signed.crt

touch "$work/index.txt"
echo 01 > "$work/serial"
cat > "$work/ca.conf" <<CONF
[ca]
database = $work/index.txt
serial = $work/serial
new_certs_dir = $work
certificate = ca.crt
private_key = $work/ca.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
CONF

here='DNS:localhost,IP:127.0.0.1,DNS:service.example'
sign good "$here" 20200101000000Z 21260101000000Z
sign expired "$here" 20200101000000Z 20210101000000Z
sign api.example.com DNS:api.example.com,DNS:test.example.com 20200101000000Z 21260101000000Z
sign other-host DNS:other.example 20200101000000Z 21260101000000Z
