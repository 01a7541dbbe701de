// Runs commands in a network of its own, with a name server whose answer depends on the name that is asked for.
// unshare --map-root-user --mount --net node with-name-server.mjs '{"commands": [["node", …], …], "killAfterMs": …}'
// Prints how they ended, as JSON. In their arguments, PORT is that of an HTTP server on 127.0.0.1.
import { execFile, execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { commands, killAfterMs } = JSON.parse(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), 'userinfo-names-'));
// The system would wait 150 s.
replace('/etc/resolv.conf', 'nameserver 127.0.0.1\noptions timeout:30 attempts:5\n');
replace('/etc/hosts', '127.0.0.1 localhost\n127.0.0.1 silent-but-listed.example\n');
execFileSync('ip', ['link', 'set', 'lo', 'up']);

const nameServer = createSocket('udp4').bind(53, '127.0.0.1');
nameServer.on('message', (query, { port }) => {
  const name = query.toString('latin1', 12);
  if (name.includes('silent')) return;
  setTimeout(() => nameServer.send(answerTo(query), port, '127.0.0.1'), name.includes('slow') ? 1000 : 0);
});
const service = createServer((_, answer) => answer.end('{"code":200,"msg":"ok","data":{"union_id":"u001"}}'));
service.listen(0, '127.0.0.1');
await Promise.all([once(nameServer, 'listening'), once(service, 'listening')]);

const ended = await Promise.all(commands.map(run));
process.stdout.write(JSON.stringify({ ended, left: processesOf('silent.example') }));
service.close();
nameServer.close();
for (const file of ['/etc/resolv.conf', '/etc/hosts']) execFileSync('umount', [file]);
rmSync(folder, { recursive: true });

function replace(file, text) {
  const ours = join(folder, file.replaceAll('/', '_'));
  writeFileSync(ours, text);
  execFileSync('mount', ['--bind', ours, file]);
}

/** Address 127.0.0.1, no IPv6 address, or no such name (RFC 1035, 4.1). */
function answerTo(query) {
  const end = query.indexOf(0, 12) + 5;
  const isUnknown = query.includes('unknown', 12);
  const isIpv4 = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from([query[0], query[1], 0x81, isUnknown ? 0x83 : 0x80, 0, 1, 0, 0, 0, 0, 0, 0]);
  if (isUnknown || !isIpv4) return Buffer.concat([head, query.subarray(12, end)]);
  head[7] = 1;
  const address = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1];
  return Buffer.concat([head, query.subarray(12, end), Buffer.from(address)]);
}

function run([program, ...args]) {
  const given = args.map((arg) => arg.replace('PORT', service.address().port));
  return new Promise((resolve) => {
    execFile(program, given, { timeout: killAfterMs, killSignal: 'SIGKILL' }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

/** The command lines of other processes that name a host. */
function processesOf(host) {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes(host) && !line.includes('with-name-server') ? [line] : [];
    } catch {
      return []; // it has just ended
    }
  });
}
