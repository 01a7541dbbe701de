// The amount of code that frequent commands and the SDK load.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';

/** Maximum size of the code that a command loads, in kB. What a start loads, every user waits for. */
const budgets = { '--version': 6, '__complete -p': 16, 'read CODE': 670 };

/** Runs the program as bin/userinfo.cjs does, and reports the size of the modules that it loaded to descriptor 3. */
const measured = `
  const { statSync, writeSync } = require('node:fs');
  process.argv.splice(1, 0, 'userinfo');
  process.on('exit', () => {
    const files = Object.keys(require.cache).filter((file) => !file.endsWith('.json'));
    writeSync(3, String(files.reduce((sum, file) => sum + statSync(file).size, 0)));
  });
  require('./dist/cli/main.cjs').main(process);`;

function loadedBytes(args, env) {
  const child = spawn(process.execPath, ['--eval', measured, '--', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let text = '';
  child.stdio[3].on('data', (data) => {
    text += data;
  });
  return new Promise((resolve) => child.on('close', () => resolve(Number(text))));
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
    const loaded = await loadedBytes(command.split(' '), env);
    process.stdout.write(`${command.padEnd(20)} loads ${(loaded / 1000).toFixed(0)} kB of ${budget} kB\n`);
    if (!(loaded > 0 && loaded <= budget * 1000))
      yield `${command} loads ${loaded} bytes, more than ${budget} kB`;
  }
  server.close();
}

/**
 * The SDK imports no package, in few files: on Node 20 each file of a module costs 1 ms. It takes nothing for granted that
 * a module in another bundle lacks.
 */
export function* sdkFaults() {
  const files = ['dist/index.js'];
  for (const file of files) {
    const code = readFileSync(file, 'utf8');
    for (const [, path] of code.matchAll(/^import .*"(.+)";$/gm)) {
      if (path.startsWith('.')) files.push(join(dirname(file), path));
      else if (!path.startsWith('node:')) yield `the SDK imports ${path}`;
      else if (path === 'node:process') yield `${file} imports ${path}, which opens the standard streams`;
    }
    for (const [taken] of code.matchAll(/\b(createRequire|import\.meta|__dirname|__filename)\b|\brequire\(/g))
      yield `${file} uses ${taken}`;
  }
  if (new Set(files).size > 4) yield `the SDK is in the files ${files.join(', ')}`;
}
