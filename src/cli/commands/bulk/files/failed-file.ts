import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import type { FileRow, RowSource } from '../source/rows.js';
import { AppendFile, type Contents, chunkLength, isSame, noContents } from './append-file.js';
import { realFilePath } from './real-path.js';

/** Sets the path of the file. */
const option = '--failed';

const byteOrderMark = '\ufeff';

/** A file that a run may replace while its contents are those that it wrote there before. */
export interface ReplaceableFile {
  readonly path: string;
  /** The contents that were written. */
  readonly ours: readonly Contents[];
  /** Called before the file is written. */
  onWrite?(contents: Contents): void;
}

/**
 * The contents of the file that is there, if any.
 *
 * @throws InvalidInputError if they are not among `ours`, or it is not a regular file
 */
export function requireOurs(replaceable: ReplaceableFile): Contents {
  const existing = findOurs(replaceable);
  existing?.file.close();
  return existing?.contents ?? noContents;
}

function findOurs({
  path,
  ours,
}: ReplaceableFile): { file: AppendFile; contents: Contents } | null {
  const file = AppendFile.find({ path, option });
  if (file === null) return null;
  const contents = file.contents();
  const isOurs = ours.some((written) => isSame(written, contents));
  if (contents.size === 0 || isOurs) return { file, contents };
  file.close();
  throw new InvalidInputError(
    `${quoteName(path)} already exists, and is not what this run wrote there`,
    { hint: `Move it away, or name another file with ${option}.` },
  );
}

/**
 * The rows that are not ok, in the format of the input, so that the file can be the input of the
 * next run. It is written beside its path, and moved there when it is complete; without such a row,
 * there is no file.
 */
export class FailedFile {
  readonly #replaceable: ReplaceableFile;
  readonly #source: Pick<RowSource, 'isPlainUtf8'>;
  /** Nobody else can know it. */
  readonly #draftPath: string;
  #draft: AppendFile | null = null;
  /** Rows that are not written yet. */
  #text = '';
  #count = 0;

  /** @throws InvalidInputError if the file that is there may not be replaced */
  constructor(replaceable: ReplaceableFile, source: Pick<RowSource, 'isPlainUtf8'>) {
    requireOurs(replaceable);
    const { path } = replaceable;
    const random = randomBytes(6).toString('hex');
    this.#replaceable = replaceable;
    this.#source = source;
    this.#draftPath = `${realFilePath({ path, option })}.${random}.userinfo-draft`;
  }

  /** The number of rows. */
  get count(): number {
    return this.#count;
  }

  /**
   * @throws RunFileError
   * @throws InvalidInputError if the file cannot be created
   */
  add(row: FileRow, reason: string): void {
    if (this.#count === 0 && !this.#source.isPlainUtf8()) this.#text = byteOrderMark;
    if (this.#count === 0) this.#text += row.formatHeader();
    this.#count += 1;
    this.#text += row.format(reason);
    if (this.#text.length > chunkLength) this.#flush();
  }

  /**
   * Moves the file into place, or leaves no file there.
   *
   * @throws RunFileError
   * @throws InvalidInputError if it cannot be created, or another file was put there meanwhile:
   * neither is replaced
   */
  finish(): void {
    const whole = this.#count === 0 ? null : this.#flush();
    if (whole !== null) this.#replaceable.onWrite?.(whole);
    const existing = findOurs(this.#replaceable);
    if (whole === null && existing !== null && existing.contents.size > 0) existing.file.remove();
    existing?.file.close();
    whole?.moveTo(realFilePath({ path: this.#replaceable.path, option }));
  }

  /**
   * Closes the file, and leaves alone what is in its place unless it was finished. May be called
   * twice.
   */
  close(): void {
    if (this.#draft === null) return;
    this.#draft.close();
    rmSync(this.#draftPath, { force: true });
  }

  #flush(): AppendFile {
    this.#draft ??= AppendFile.create({ path: this.#replaceable.path, option }, this.#draftPath);
    this.#draft.append(this.#text);
    this.#text = '';
    return this.#draft;
  }
}
