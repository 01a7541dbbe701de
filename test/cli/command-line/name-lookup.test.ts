import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { deploymentVariables } from '../../support/cli.js';

const program = new URL('../../../bin/userinfo.cjs', import.meta.url).pathname;
const apart = ['--map-root-user', '--mount', '--net'];
const works = spawnSync('unshare', [...apart, 'ip', 'link', 'set', 'lo', 'up']).status === 0;

/**
 * In a network of its own, asks a service for a user by a name that only its name server knows, and
 * prints the types of the records that the server was asked for. A query (RFC 1035, 4.1) is 12
 * bytes, a name and its type; the answer has the address 127.0.0.1, or none for IPv6.
 */
const driver = `
  const { execFile } = require('node:child_process');
  const asked = [];
  const names = require('node:dgram').createSocket('udp4').bind(53, '127.0.0.1');
  names.on('message', (query, { port }) => {
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    asked.push(type === 1 ? 'A' : type === 28 ? 'AAAA' : type);
    const address = type === 1 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1] : [];
    const head = [query[0], query[1], 0x81, 0x80, 0, 1, 0, address.length && 1, 0, 0, 0, 0];
    names.send(Buffer.concat([Buffer.from(head), query.subarray(12, end), Buffer.from(address)]), port);
  });
  const service = require('node:http').createServer((_, answer) =>
    answer.end('{"code":200,"msg":"ok","data":{"union_id":"u001"}}'));
  service.listen(0, '127.0.0.1', () => {
    const url = 'http://known.example:' + service.address().port;
    const args = ['${program}', 'read', 'c', '--json', '--allow-http', '--base-url', url];
    execFile(process.execPath, args, (error, stdout, stderr) => {
      console.log(JSON.stringify({ asked: asked.sort(), stdout, stderr }));
      process.exit();
    });
  });`;

it.skipIf(!works)(
  'a read looks the name of its service up once (needs unshare, mount and ip)',
  () => {
    const { USERINFO_BASE_URL: _, ...app } = deploymentVariables('');
    const env = { ...process.env, USERINFO_ENVIRONMENT: 'test', ...app };
    const shell = `folder=$(mktemp -d); echo 'nameserver 127.0.0.1' > $folder/resolv.conf
    mount --bind $folder/resolv.conf /etc/resolv.conf; rm -r $folder; ip link set lo up; exec "$@"`;
    const args = [...apart, 'sh', '-c', shell, 'sh', process.execPath, '--eval', driver];
    const { asked, stdout, stderr } = JSON.parse(
      execFileSync('unshare', args, { encoding: 'utf8', env }),
    );
    expect([stderr, JSON.parse(stdout).data.union_id]).toEqual(['', 'u001']);
    expect(asked).toEqual(['A', 'AAAA']);
  },
);
