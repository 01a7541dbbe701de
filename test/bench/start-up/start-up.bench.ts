import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { startBareServer } from '../service/bare-server.js';
import { type ProcessTimes, type TimedCommand, timeProcesses } from './time-processes.js';

const node = process.execPath;
const bin = join(import.meta.dirname, '..', '..', '..', 'bin', 'userinfo.cjs');
const turns = 30;

/** What the same GET takes at the least. */
const bareRead = `require('node:http').get(process.argv[1], (answer) => {
  let text = '';
  answer.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => console.log(text));
});`;

it('measures what a command costs before it does anything', async () => {
  using machine = new Machine();
  const server = await startBareServer();
  const env = { HOME: machine.folder, USERINFO_CONFIG_DIR: machine.configFolder };
  const app = [
    '--environment',
    'test',
    '--tenant-code',
    'acme',
    '--channel',
    'web',
    '--app-key',
    'k1',
  ];
  const secret = ['--app-secret-stdin'];
  const added = await machine.run(
    ['profile', 'add', 'local', ...app, '--base-url', server.url, ...secret],
    {
      stdin: 'a secret',
    },
  );
  expect(added.status).toBe(0);
  const userinfo = (name: string, ...args: string[]): TimedCommand => ({
    name,
    argv: [node, bin, ...args],
    env,
  });
  print(
    timeProcesses(
      [
        { name: 'node -e 0', argv: [node, '-e', '0'] },
        userinfo('userinfo --version', '--version'),
        userinfo('completion of a profile name', '__complete', '-p', ''),
        userinfo('userinfo profile list', 'profile', 'list'),
      ],
      turns,
    ),
  );
  const url = `${server.url}/api/v1/server/user/user_info_for_third?code=c1`;
  print(
    timeProcesses(
      [
        { name: 'a bare node:http script', argv: [node, '-e', bareRead, url] },
        userinfo('userinfo read --json', 'read', 'c1', '--json'),
        userinfo('userinfo read', 'read', 'c1'),
      ],
      turns,
    ),
  );
  server.stop();
});

it('measures what an import of the SDK costs', () => {
  const sdk = join(import.meta.dirname, '..', '..', '..', 'dist', 'index.js');
  const options =
    "{ baseUrl: 'http://127.0.0.1:9', tenantCode: 't', channel: 'c', appKey: 'k', appSecret: 's' }";
  const program = (name: string, text: string): TimedCommand => ({
    name,
    argv: [node, '--input-type=module', '-e', text],
  });
  print(
    timeProcesses(
      [
        { name: 'node -e 0', argv: [node, '-e', '0'] },
        program('import of the SDK', `import ${JSON.stringify(sdk)};`),
        program(
          'and a client',
          `import { UserInfoClient } from ${JSON.stringify(sdk)}; new UserInfoClient(${options});`,
        ),
      ],
      turns,
    ),
  );
});

function print([baseline, ...others]: readonly ProcessTimes[]): void {
  if (baseline === undefined) return;
  const ratio = (ms: number, base: number) =>
    `${(ms / base).toFixed(2)} (${ms.toFixed(0)})`.padStart(11);
  const line = ({ name, median, least }: ProcessTimes) =>
    [
      `  ${name.padEnd(30)}`,
      ratio(median.elapsed, baseline.median.elapsed),
      ratio(least.elapsed, baseline.least.elapsed),
      ratio(median.cpu, baseline.median.cpu),
      ratio(least.cpu, baseline.least.cpu),
    ].join('');
  const head = `${'median'.padStart(11)}${'least'.padStart(11)}${'CPU median'.padStart(11)}${'CPU least'.padStart(11)}`;
  process.stdout.write(
    `\nWhole processes, ${turns} turns, Node ${process.versions.node}: ratio (ms)\n${''.padEnd(32)}${head}\n` +
      `${[baseline, ...others].map(line).join('\n')}\n`,
  );
}
