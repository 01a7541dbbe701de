// What a file may import: the folders below its own, of these only their entry points, no file that imports it back, and no
// private file of a dependency.
import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { folderOf } from './source-files.mjs';

/** What each folder may import besides itself. `index` is src/index.ts, the SDK. */
const arrows = {
  support: [],
  protocol: ['support'],
  signing: ['support'],
  'signing-tools': ['signing', 'support'],
  solve: ['signing-tools', 'signing', 'support'],
  lab: ['client', 'signing', 'protocol', 'support'],
  platform: ['signing', 'protocol', 'support'],
  client: ['platform', 'signing', 'protocol', 'support'],
  profiles: ['platform', 'signing', 'protocol', 'support'],
  bulk: ['client', 'protocol', 'support'],
  database: ['protocol', 'support'],
  service: ['database', 'platform', 'signing-tools', 'signing', 'protocol', 'support'],
  sdk: ['bulk', 'client', 'profiles', 'platform', 'signing', 'protocol', 'support'],
  index: ['sdk', 'bulk', 'client', 'platform', 'signing', 'protocol', 'support'],
  probe: ['client', 'platform', 'signing', 'protocol', 'support'],
  cli: [
    'probe',
    'bulk',
    'service',
    'profiles',
    'client',
    'platform',
    'lab',
    'solve',
    'signing-tools',
    'signing',
    'protocol',
    'support',
  ],
};

/**
 * The entry points of each folder: the files that other folders may import. In `support`, `protocol` and `platform`
 * these are all files.
 * No `index.ts`: it would load all of a folder for one of its files.
 */
const entryPoints = {
  signing: `app-signatures compile-recipe digest-algorithms digest-steps encodings module-signer params
    presets recipe-json recipe recipe-language recipe-parts recipe-signer request secret signer template`,
  'signing-tools': `describe-recipe export/export recipe-changes samples/captured-request samples/formats samples/read-sample samples/sample-error
    verify/compare-messages verify/recipe-suspects verify/suspect verify/verify-signature`,
  lab: `contract find-rules sample settle/ask-for-rules settle/asker settle/candidates settle/harmless-requests
    settle/search-by-asking settle/settle`,
  solve: `search/search search/shares signed-headers solve tasks`,
  client: `answer attempt client dispatcher errors header-values hooks judgement options proxy request retry sender sign-request tls-trust
    wire-request`,
  profiles: `errors flags-and-environment header-source load-signers production-guard profile-file profile-json profile-name profile-store profile secret
    settings`,
  sdk: `client`,
  probe: `answer breaks evidence exchange gather learn learned-codes left-behind refusals`,
  bulk: `file-run files/failed-file files/recorder files/result-line files/run-files files/run-locks files/run-state operations
    outcome send-all source/checked-input source/columns source/csv source/input source/lines source/ndjson
    source/part source/rows source/text`,
  database: `errors migrations postgres-driver sql-driver sqlite-driver`,
  service: `fault-settings index metrics migrate`,
};

export function* importFaults(sources) {
  yield* arrowFaults(sources);
  yield* entryPointFaults(sources);
  yield* lateFaults(sources);
  yield* circularImportFaults(sources);
  yield* privateFileFaults(sources);
}

function* acrossFolders(sources) {
  for (const [file, { imports }] of sources) {
    for (const { path } of imports) {
      if (path?.startsWith('src') && folderOf(path) !== folderOf(file)) yield [file, path];
    }
  }
}

function* arrowFaults(sources) {
  for (const folder of new Set([...sources.keys()].map(folderOf))) {
    if (arrows[folder] === undefined) yield `src/${folder}: scripts/layers/imports.mjs knows no such folder`;
  }
  for (const [file, path] of acrossFolders(sources)) {
    const [from, to] = [folderOf(file), folderOf(path)];
    if (arrows[from]?.includes(to) === false) yield `${file} imports ${path}: ${from} may not import ${to}`;
  }
}

function* entryPointFaults(sources) {
  const listed = Object.entries(entryPoints).flatMap(([folder, names]) =>
    names.split(/\s+/).map((name) => join('src', folder, `${name}.ts`)),
  );
  const unused = new Set(listed);
  for (const [file, path] of acrossFolders(sources)) {
    unused.delete(path);
    const folder = folderOf(path);
    if (entryPoints[folder] !== undefined && !listed.includes(path)) {
      yield `${file} imports ${path}, which is no entry point of ${folder}`;
    }
  }
  for (const path of unused) yield `${path} is an entry point, but no other folder imports it`;
}

/** `NAME.late.ts` is apart so that a start does not load it: by import() alone, except for another such file. */
function* lateFaults(sources) {
  const isLate = (file = '') => file.endsWith('.late.ts');
  for (const [file, { imports }] of sources) {
    for (const { path, isLoaded } of imports)
      if (isLoaded && isLate(path) && !isLate(file))
        yield `${file} imports ${path}, which only import() loads`;
  }
}

/** Depth-first search; an import of a file that is still open is circular. */
function* circularImportFaults(sources) {
  const done = new Set();
  const open = [];
  const faults = [];
  const visit = (file) => {
    if (open.includes(file)) faults.push([...open.slice(open.indexOf(file)), file].join(' -> '));
    if (done.has(file) || open.includes(file)) return;
    open.push(file);
    for (const { path } of sources.get(file)?.imports ?? []) visit(path);
    open.pop();
    done.add(file);
  };
  for (const file of sources.keys()) visit(file);
  for (const fault of faults) yield `circular import: ${fault}`;
}

/** A file of a package is private unless the package exports it by name. */
function* privateFileFaults(sources) {
  for (const [file, { imports }] of sources) {
    for (const { package: name } of imports) {
      const [, root, rest] = /^(@[^/]+\/[^/]+|[^@/]+)\/(.+)$/.exec(name ?? '') ?? [];
      if (root === undefined || root.startsWith('node:')) continue;
      const { exports = {} } = JSON.parse(readFileSync(join('node_modules', root, 'package.json'), 'utf8'));
      if (exports[`./${rest}`] === undefined) yield `${file} imports ${name}, a private file of ${root}`;
    }
  }
}
