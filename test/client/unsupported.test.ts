import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, string | object>>;
};
const entries = Object.keys(exports).filter((entry) => typeof exports[entry] === 'object');

it.each(['browser', 'workerd', 'edge-light'])(
  'where %s is asked for, each entry says what it needs',
  (condition) => {
    const names = entries.map((entry) => `userinfo-exchange${entry.slice(1)}`);
    const code = `for (const name of ${JSON.stringify(names)}) {
    try { require(name); console.log('loaded'); } catch (error) { console.log(error.message); }
  }`;
    const { stdout } = spawnSync(process.execPath, [`--conditions=${condition}`, '-e', code], {
      encoding: 'utf8',
    });
    const sentence =
      'userinfo-exchange needs the sockets of Node, Bun or Deno: call it from a server\n';
    expect(stdout).toBe(sentence.repeat(names.length));
  },
);

it('where connections cannot be opened, a call says what it needs, and is not repeated', () => {
  const code = `
    let opened = 0;
    require('node:net').connect = () => { opened += 1; throw new Error('not implemented'); };
    const { UserInfoClient } = require('userinfo-exchange');
    const options = { baseUrl: 'http://127.0.0.1:9', tenantCode: 'acme', channel: 'web', appKey: 'a', appSecret: 's' };
    new UserInfoClient(options).read({ code: 'c' }).catch((error) => console.log(error.hint, opened));
  `;
  const { stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
  expect(stdout).toMatch(/needs the sockets of Node, Bun or Deno: call it from a server\. 1\n$/);
});
