import { quoteWord } from '../shell-words.js';
import { flatten, type Leaf } from './flatten.js';

/** What every name begins with: so no value from the network can become PATH, or IFS. */
const prefix = 'userinfo';

/**
 * Data as assignments for a POSIX shell, one for each single value: `userinfo_mobile='13800138000'`. A character that
 * no name can have becomes `_`; of names that are then the same, the second ends in `_2`, and so on. A value with
 * U+0000 is left out: no shell can hold it.
 */
export function formatShellVariables(data: unknown): string {
  const names = new Set<string>();
  let lines = '';
  for (const { path, text } of flatten(data)) {
    const name = unusedName(variableName(path), names);
    names.add(name);
    if (!text.includes('\0')) lines += `${name}=${quoteWord(text)}\n`;
  }
  return lines;
}

function variableName(path: Leaf['path']): string {
  return [prefix, ...path].join('_').replace(/[^A-Za-z0-9_]/g, '_');
}

function unusedName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
  return name;
}
