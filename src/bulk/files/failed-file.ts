import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { FileRow } from '../source/rows.js';
import { type Contents, isSame } from './contents.js';
import { DraftFile, draftOf, type FoundFile, findFile, removeFile } from './draft-file.js';

/** Size of one write, in characters. */
const chunkLength = 65_536;

const byteOrderMark = '\ufeff';

/** The file of failed rows, and the contents that an earlier run wrote to it: nothing else is replaced. */
export interface FailedPlace {
  readonly path: string;
  readonly ours: readonly Contents[];
  /** Called before a draft of the file is created, with the path of the draft. */
  onDraft?(draft: string): void;
  /** Called before the file is written. */
  onWrite?(contents: Contents): void;
}

/**
 * The file that is there, if any.
 *
 * @throws InvalidInputError if its contents are not among `ours`, or it is not a regular file
 */
export function requireOurs({ path, ours }: FailedPlace): FoundFile {
  const found = findFile(path);
  if (found.size === 0 || ours.some((contents) => isSame(contents, found))) return found;
  throw new InvalidInputError(`${quoteName(path)} is there already, and is not what this run wrote there`, {
    hint: 'Move it away, or name another file with --failed.',
  });
}

/**
 * The rows to retry, in the format of the input, so that the file can be the input of the next run. It is moved into
 * place when it is complete; without such a row, there is no file.
 */
export class FailedFile {
  readonly #place: FailedPlace;
  readonly #draft: DraftFile;
  readonly #mark: string;
  #text = '';
  #count = 0;

  /**
   * Written as UTF-8; if the input is not UTF-8, with a byte-order mark, which overrides `--encoding` of the next
   * run.
   *
   * @throws InvalidInputError if it cannot be written, or would replace a file that no run wrote
   */
  constructor(place: FailedPlace, inputIsUtf8: boolean) {
    requireOurs(place);
    this.#place = place;
    const draft = draftOf(place.path);
    place.onDraft?.(draft);
    this.#draft = new DraftFile(place.path, draft);
    this.#mark = inputIsUtf8 ? '' : byteOrderMark;
  }

  get count(): number {
    return this.#count;
  }

  /** @throws RunFileError */
  add(row: FileRow): void {
    if (this.#count === 0) this.#text = this.#mark + row.formatHeader();
    this.#count += 1;
    this.#text += row.format();
    if (this.#text.length > chunkLength) this.#flush();
  }

  /**
   * Moves the file into place, or leaves no file there.
   *
   * @throws RunFileError
   * @throws InvalidInputError if another file was put there meanwhile: neither is replaced
   */
  finish(): void {
    this.#flush();
    if (this.#count > 0) this.#place.onWrite?.(this.#draft.contents);
    const found = requireOurs(this.#place);
    if (this.#count > 0) this.#draft.moveIntoPlace(found);
    else if (found.size > 0) removeFile(found);
  }

  /** Closes the file, and leaves alone what is in its place unless it was finished. */
  close(): void {
    this.#draft.close();
  }

  #flush(): void {
    this.#draft.append(this.#text);
    this.#text = '';
  }
}
