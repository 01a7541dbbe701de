// Checks the structure of src: the allowed arrows between its folders, no cycle of value imports, and the amount of
// code that frequent commands and the SDK load. Run after a build; exits 1 with one line for each fault.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, normalize } from 'node:path';

/** What each folder may import besides itself. `index` is src/index.ts, the SDK. */
const arrows = {
  support: [],
  protocol: ['support'],
  signing: ['support'],
  solve: ['signing', 'support'],
  client: ['signing', 'protocol', 'support'],
  profiles: ['signing', 'protocol', 'support'],
  bulk: ['client', 'protocol', 'support'],
  database: ['protocol', 'support'],
  queue: ['bulk', 'client', 'database', 'protocol', 'support'],
  service: ['database', 'signing', 'protocol', 'support'],
  index: ['bulk', 'client', 'signing', 'protocol', 'support'],
  cli: ['queue', 'bulk', 'service', 'profiles', 'client', 'solve', 'signing', 'protocol', 'support'],
};

/** Maximum size of the code that a command loads, in kB. What a start loads, every user waits for. */
const budgets = { '--version': 5, '__complete -p': 13, 'read CODE': 600 };

const statement =
  /(?:^|\n)(?<kind>import|export)(?<type> type)?(?<names>\s[^'";]*?\sfrom)?\s*'(?<path>\.[^']+)'|import\('(?<dynamic>\.[^']+)'\)/g;

/** The imports of a file: path of the target, and whether it is a value import that runs when the file loads. */
function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(statement)].map(({ groups }) => {
    const { type, names, path, dynamic } = groups;
    const target = normalize(join(dirname(file), path ?? dynamic)).replace(/\.js$/, '.ts');
    const onlyTypes = names !== undefined && /^\s*\{(\s*type [^,}]+,?)+\s*\}/.test(names);
    return { target, isValue: dynamic === undefined && type === undefined && !onlyTypes };
  });
}

function folderOf(file) {
  return file === join('src', 'index.ts') ? 'index' : file.split(/[\\/]/)[1];
}

function* arrowFaults(graph) {
  for (const [file, imports] of graph) {
    const from = folderOf(file);
    for (const { target } of imports.filter(({ target }) => target !== 'package.json')) {
      const to = folderOf(target);
      if (arrows[from] === undefined) yield `${file}: scripts/check-layers.mjs knows no folder ${from}`;
      else if (to !== from && !arrows[from].includes(to))
        yield `${file} imports ${target}: ${from} may not import ${to}`;
    }
  }
}

/** Depth-first search; a value import of a file that is still open closes a cycle. */
function* cycleFaults(graph) {
  const done = new Set();
  const open = [];
  const faults = [];
  const visit = (file) => {
    if (open.includes(file)) faults.push([...open.slice(open.indexOf(file)), file].join(' -> '));
    if (done.has(file) || open.includes(file)) return;
    open.push(file);
    for (const { target, isValue } of graph.get(file) ?? []) if (isValue) visit(target);
    open.pop();
    done.add(file);
  };
  for (const file of graph.keys()) visit(file);
  for (const fault of faults) yield `cycle of value imports: ${fault}`;
}

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

async function* loadFaults() {
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

/** The SDK imports undici and no other package, in few files: on Node 20 each file of a module costs 1 ms. */
function* sdkFaults() {
  const files = ['dist/index.js'];
  for (const file of files) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/^import .*"(.+)";$/gm)) {
      if (path.startsWith('.')) files.push(join(dirname(file), path));
      else if (!/^(node:|undici$)/.test(path)) yield `the SDK imports ${path}`;
    }
  }
  if (new Set(files).size > 3) yield `the SDK is in the files ${files.join(', ')}`;
}

const files = readdirSync('src', { recursive: true }).map((file) => join('src', file));
const graph = new Map(files.filter((file) => file.endsWith('.ts')).map((file) => [file, importsOf(file)]));
const faults = [...arrowFaults(graph), ...cycleFaults(graph), ...sdkFaults()];
for await (const fault of loadFaults()) faults.push(fault);
process.stdout.write(`${graph.size} files\n${faults.map((fault) => `error: ${fault}\n`).join('')}`);
process.exitCode = faults.length === 0 ? 0 : 1;
