// What a file may import: the rooms below its own, no file that imports it back, and no private
// file of a dependency.
import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';

/** The rooms of src, and what each may import besides itself. `index` is src/index.ts, the SDK. */
const arrows = {
  'core/support': [],
  'core/contract': ['core/support'],
  'core/signing': ['core/support'],
  'core/platform': ['core/signing', 'core/contract', 'core/support'],
  'core/profiles': ['core/platform', 'core/signing', 'core/contract', 'core/support'],
  client: ['core'],
  // The page of the service explains a refused signature.
  service: ['lab/verify', 'core'],
  'lab/verify': ['core'],
  lab: ['client', 'core'],
  cli: ['lab', 'service', 'client', 'core'],
  index: ['client', 'core'],
};

export function* importFaults(sources) {
  yield* arrowFaults(sources);
  yield* lateFaults(sources);
  yield* circularImportFaults(sources);
  yield* privateFileFaults(sources);
}

/** The room of a file: the longest of `arrows` that its path begins with. */
function roomOf(file) {
  if (file === 'src/index.ts') return 'index';
  const rooms = Object.keys(arrows).filter((room) => file.startsWith(`src/${room}/`));
  return rooms.sort((a, b) => b.length - a.length)[0];
}

const isIn = (room, other) => room === other || room.startsWith(`${other}/`);

function* arrowFaults(sources) {
  for (const [file, { imports }] of sources) {
    const room = roomOf(file);
    if (room === undefined) {
      yield `${file} is in no room that scripts/layers/imports.mjs knows`;
      continue;
    }
    for (const { path } of imports) {
      const imported = path?.startsWith('src/') ? roomOf(path) : undefined;
      if (imported === undefined || isIn(imported, room)) continue;
      if (arrows[room].some((allowed) => isIn(imported, allowed))) continue;
      yield `${file} imports ${path}: ${room} may not import ${imported}`;
    }
  }
}

/**
 * `NAME.late.ts` is apart so that a start does not load it: by import() alone, except for another
 * such file.
 */
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
      const { exports = {} } = JSON.parse(
        readFileSync(join('node_modules', root, 'package.json'), 'utf8'),
      );
      if (exports[`./${rest}`] === undefined)
        yield `${file} imports ${name}, a private file of ${root}`;
    }
  }
}
