import { hash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

interface Compiled {
  readonly script: Script;
  /** Where V8's cache of it is kept. */
  readonly file: string;
}

/**
 * Compiles the program's chunks with what V8 knew of them at the end of an earlier run, and returns what keeps that
 * for a later one. Node's module.enableCompileCache, which Node 20 lacks, keeps less: what was compiled at the start.
 */
export function keepCompiledChunks(folder: string): () => void {
  const { extensions } = createRequire(import.meta.url);
  const compiled: Compiled[] = [];
  let isNew = false;
  extensions['.cjs'] = (module, path) => {
    const source = dirname(path) === import.meta.dirname ? readFileSync(path, 'utf8') : undefined;
    // A Script cannot import() without a flag of Node's.
    if (source === undefined || source.includes('import(')) return extensions['.js'](module, path);
    // The name of a chunk holds the hash of its content.
    const file = join(folder, `${basename(path)}-${process.version}-${process.arch}`);
    const cachedData = readWhole(file);
    const script = new Script(Module.wrap(source), { filename: path, ...(cachedData && { cachedData }) });
    compiled.push({ script, file });
    isNew ||= script.cachedDataRejected !== false;
    const run = script.runInThisContext();
    run.call(module.exports, module.exports, module.require.bind(module), module, path, dirname(path));
  };
  return () => {
    // A run that needs a chunk more than those before it has compiled more of the others as well.
    if (isNew) for (const { script, file } of compiled) replaceFile(file, script.createCachedData());
  };
}

const digestBytes = 32;

function digestOf(data: Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** What was kept in a file; undefined for a damaged one, which V8 would run as it is. */
function readWhole(file: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const data = content.subarray(digestBytes);
    return content.subarray(0, digestBytes).equals(digestOf(data)) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** A disk that is full or read-only costs the next run a little time. */
function replaceFile(file: string, data: Buffer): void {
  const staged = `${file}.${process.pid}`;
  try {
    writeFileSync(staged, Buffer.concat([digestOf(data), data]), { mode: 0o600 });
    renameSync(staged, file);
  } catch {
    rmSync(staged, { force: true });
  }
}
