#!/usr/bin/env node
// Stands in for secret-tool, security and powershell.exe, by the name it is called by: speaks as they do, keeps the
// entries in the folder FAKE_KEYCHAIN, and writes down how it was called.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const folder = process.env.FAKE_KEYCHAIN;
const [, script, ...args] = process.argv;
appendFileSync(join(folder, 'calls'), `${JSON.stringify([basename(script), ...args])}\n`);

const after = (words, option) => words[words.indexOf(option) + 1];
const entry = (account) => join(folder, `entry-${account}`);
const keep = (account, secret) => writeFileSync(entry(account), process.env.FAKE_GARBLES ? 'x' : secret);
const find = (account, end = '') => process.stdout.write(readFileSync(entry(account), 'utf8') + end);
const input = () => readFileSync(0, 'utf8');

if (process.env.FAKE_HANGS) await new Promise((resolve) => setTimeout(resolve, 2_000));
try {
  switch (basename(script)) {
    case 'secret-tool': {
      const account = after(args, 'account');
      if (args[0] === 'store') keep(account, input());
      else if (args[0] === 'lookup') find(account);
      else rmSync(entry(account));
      break;
    }
    case 'security': {
      const words = args[0] === '-i' ? input().trim().split(' ') : args;
      const account = after(words, '-a');
      if (words[0] === 'add-generic-password') keep(account, Buffer.from(after(words, '-X'), 'hex'));
      else if (words[0] === 'find-generic-password') find(account, '\n');
      else rmSync(entry(account));
      break;
    }
    case 'powershell.exe': {
      const script = Buffer.from(after(args, '-EncodedCommand'), 'base64').toString('utf16le');
      const [, account] = /'userinfo','([^']+)'/.exec(script);
      if (script.includes('$vault.Add(')) keep(account, input());
      else if (script.includes('RetrievePassword()')) find(account);
      else rmSync(entry(account));
      break;
    }
  }
} catch {
  process.exitCode = 1;
}
