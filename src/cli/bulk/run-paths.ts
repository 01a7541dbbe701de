// Apart from run-many.ts: "runs results" loads this, and nothing that sends rows.

import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RunPaths } from '../../bulk/files/run-files.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { BulkOptions } from './bulk-options.js';

/**
 * The files of a run over a file.
 *
 * @throws InvalidInputError if two of them are the same
 */
export function pathsOf({ from, journal, results, failed }: BulkOptions): RunPaths {
  const paths = {
    results: results ?? `${from}.results.ndjson`,
    journal: journal ?? `${from}.userinfo-journal`,
    failed: failed ?? null,
  };
  refuseSame({
    '--from': from,
    '--results': paths.results,
    '--journal': paths.journal,
    ...(failed === undefined ? {} : { '--failed': failed }),
  });
  return paths;
}

/** @throws InvalidInputError if two options name the same file */
export function refuseSame(files: Readonly<Record<string, string>>): void {
  const seen = new Map<string, string>();
  for (const [option, path] of Object.entries(files)) {
    const real = realPath(path);
    const other = seen.get(real);
    if (other !== undefined)
      throw new InvalidInputError(`${other} and ${option} are the same file: ${quoteName(path)}`);
    seen.set(real, option);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The file does not exist yet.
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}
