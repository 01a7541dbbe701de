// Installs what people run beside the product, as their distribution ships it, where it may: on
// Debian and its like, as root. The tests that need a part are skipped where it is missing; with
// --all the exit status is 1 then.
import { spawnSync } from 'node:child_process';

const packages = `
  postgresql pgbouncer haproxy nginx prometheus libfaketime
  php-cli php-mbstring golang-go mono-mcs mono-runtime default-jdk-headless
  flake8 chromium zsh fish jq sqlite3 python3-yaml iproute2 systemd
`
  .trim()
  .split(/\s+/);

const run = (command, args, options = {}) =>
  spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    ...options,
  });
const isInstalled = (name) => / ok installed$/m.test(run('dpkg', ['-s', name]).stdout ?? '');

const missing = packages.filter((name) => !isInstalled(name));
const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
const mayInstall = run('apt-get', ['--version']).status === 0 && run(...split('true')).status === 0;

if (missing.length > 0 && mayInstall) {
  process.stdout.write(`installing ${missing.join(' ')}\n`);
  const install = [
    'apt-get',
    'install',
    '--yes',
    '--quiet=2',
    '--no-install-recommends',
    ...missing,
  ];
  for (const line of [['apt-get', 'update', '--quiet=2'], install]) {
    run(...split(...line), { stdio: ['ignore', 'ignore', 'inherit'] });
  }
}
const left = missing.filter((name) => !isInstalled(name));
if (left.length > 0) {
  process.stdout.write(`not installed: ${left.join(' ')}\n`);
  if (process.argv.includes('--all')) process.exitCode = 1;
}

function split(...line) {
  const [command, ...args] = [...sudo, ...line];
  return [command, args];
}
