import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import type { FileRow } from '../source/rows.js';
import { AppendFile, type Contents, isSame, noContents } from './append-file.js';
import { placeOf } from './place.js';

/** Size of one write, in characters. */
const chunkLength = 65_536;

const byteOrderMark = '\ufeff';

/**
 * The file of failed rows, and the contents that an earlier run wrote to it: nothing else is
 * replaced.
 */
export interface FailedPlace {
  readonly path: string;
  readonly ours: readonly Contents[];
  /** Called before the file is written. */
  onWrite?(contents: Contents): void;
}

/**
 * The contents of the file that is there, if any.
 *
 * @throws InvalidInputError if they are not among `ours`, or it is not a regular file
 */
export function requireOurs(place: FailedPlace): Contents {
  const found = findOurs(place);
  found?.file.close();
  return found?.contents ?? noContents;
}

function findOurs({ path, ours }: FailedPlace): { file: AppendFile; contents: Contents } | null {
  const file = AppendFile.find(path);
  if (file === null) return null;
  const contents = file.contents();
  if (contents.size === 0 || ours.some((one) => isSame(one, contents))) return { file, contents };
  file.close();
  throw new InvalidInputError(
    `${quoteName(path)} already exists, and is not what this run wrote there`,
    {
      hint: 'Move it away, or name another file with --failed.',
    },
  );
}

/**
 * The rows that are not ok, in the format of the input, so that the file can be the input of the next run.
 * It is written beside its path, and moved there when it is complete; without such a row, there is
 * no file.
 */
export function failedFile(place: FailedPlace, inputIsUtf8: boolean) {
  requireOurs(place);
  const mark = inputIsUtf8 ? '' : byteOrderMark;
  /** Nobody else can know it. */
  const draftPath = `${placeOf(place.path)}.${randomBytes(6).toString('hex')}.userinfo-draft`;
  let draft: AppendFile | null = null;
  let text = '';
  let count = 0;

  function flush(): AppendFile {
    draft ??= AppendFile.create(place.path, draftPath);
    draft.append(text);
    text = '';
    return draft;
  }

  return {
    count: () => count,
    /**
     * @throws RunFileError
     * @throws InvalidInputError if the file cannot be created
     */
    add(row: FileRow, reason: string): void {
      if (count === 0) text = mark + row.formatHeader();
      count += 1;
      text += row.format(reason);
      if (text.length > chunkLength) flush();
    },
    /**
     * Moves the file into place, or leaves no file there.
     *
     * @throws RunFileError
     * @throws InvalidInputError if it cannot be created, or another file was put there meanwhile:
     * neither is replaced
     */
    finish(): void {
      const whole = count === 0 ? null : flush();
      if (whole !== null) place.onWrite?.(whole);
      const found = findOurs(place);
      if (whole === null && found !== null && found.contents.size > 0) found.file.remove();
      found?.file.close();
      whole?.moveTo(placeOf(place.path));
    },
    /**
     * Closes the file, and leaves alone what is in its place unless it was finished. May be called
     * twice.
     */
    close(): void {
      if (draft === null) return;
      draft.close();
      rmSync(draftPath, { force: true });
    },
  };
}
