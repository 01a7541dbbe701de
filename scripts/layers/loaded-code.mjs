// The amount of code that frequent commands and the SDK load.
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, relative } from 'node:path';

/** The size of the code that a command loads, in kB. What a start loads, every user waits for. */
const budgets = { '--version': 4, '__complete -p': 13, 'read c1': 740 };
/** A budget may be exceeded by a tenth: set it anew before that is used up. */
const room = 1.1;

/**
 * Runs the program as bin/userinfo.cjs does, and reports the files that it loaded to descriptor 3.
 */
const measured = `
  process.argv.splice(1, 0, 'userinfo');
  process.on('exit', () => require('node:fs').writeSync(3, JSON.stringify(Object.keys(require.cache))));
  require('./dist/cli/main.cjs').main(process);`;

/** The files of code that the program loads. */
function loadedFiles(args, env) {
  const child = spawn(process.execPath, ['--eval', measured, '--', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let text = '';
  child.stdio[3].on('data', (data) => {
    text += data;
  });
  return new Promise((resolve) => {
    child.on('close', () => resolve(JSON.parse(text).filter((file) => !file.endsWith('.json'))));
  });
}

/** The ten largest modules of files of the build, with their sizes. */
function largestModules(files) {
  const modules = JSON.parse(readFileSync('dist/.modules.json', 'utf8'));
  const sizes = files.flatMap((file) => Object.entries(modules[relative('.', file)] ?? {}));
  const largest = sizes.sort(([, one], [, other]) => other - one).slice(0, 10);
  return largest.map(
    ([id, size]) => `\n  ${(size / 1000).toFixed(1).padStart(6)} kB ${relative('.', id)}`,
  );
}

export async function* loadFaults() {
  const answer = '{"code":200,"msg":"ok","data":{"union_id":"u"}}';
  const server = createServer((_request, response) => response.end(answer));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = {
    USERINFO_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    USERINFO_TENANT_CODE: 't',
    USERINFO_CHANNEL: 'c',
    USERINFO_APP_KEY: 'k',
    USERINFO_APP_SECRET: 's',
  };
  for (const [command, budget] of Object.entries(budgets)) {
    const files = await loadedFiles(command.split(' '), env);
    const size = files.reduce((sum, file) => sum + statSync(file).size, 0) / 1000;
    const most = budget * room;
    process.stdout.write(
      `${command.padEnd(20)} loads ${size.toFixed(0)} kB, at most ${most.toFixed(0)}\n`,
    );
    if (size > most)
      yield `${command} loads ${size.toFixed(0)} kB, more than ${most.toFixed(0)}; the largest modules are:${largestModules(files).join('')}`;
  }
  server.close();
}

/**
 * The SDK imports no package, in few files: on Node 20 each file of a module costs 1 ms. It takes
 * nothing for granted that a module in another bundle lacks.
 */
export function* sdkFaults() {
  const files = ['dist/index.js'];
  for (const file of files) {
    const code = readFileSync(file, 'utf8');
    for (const [, path] of code.matchAll(/^import .*"(.+)";$/gm)) {
      if (path.startsWith('.')) files.push(join(dirname(file), path));
      else if (!path.startsWith('node:')) yield `the SDK imports ${path}`;
      else if (path === 'node:process')
        yield `${file} imports ${path}, which opens the standard streams`;
    }
    // A require of a module of Node is that of process.getBuiltinModule.
    for (const [taken] of code.matchAll(
      /\b(createRequire|import\.meta|__dirname|__filename)\b|\brequire\((?!"(?:node:)?[\w/]+"\))/g,
    ))
      yield `${file} uses ${taken}`;
  }
  if (new Set(files).size > 4) yield `the SDK is in the files ${files.join(', ')}`;
}
