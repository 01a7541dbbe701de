import { renameSync, rmSync } from 'node:fs';
import { AppendFile } from './append-file.js';
import { formatRecord, type JournalRecord } from './journal-records.js';
import type { RunIdentity } from './run-identity.js';

/** The journal of a run, which makes it safe to stop at any instant: what it holds is never sent again. */
export class Journal {
  readonly path: string;
  readonly #file: AppendFile;

  private constructor(path: string, file: AppendFile) {
    this.path = path;
    this.#file = file;
  }

  /** Begins a journal. It has its first record from the instant it is there. */
  static create(path: string, identity: RunIdentity): Journal {
    const draft = `${path}.new`;
    const file = new AppendFile(draft, 0);
    try {
      file.append(formatRecord({ record: 'run', version: 1, identity }));
      renameSync(draft, path);
    } catch (error) {
      file.close();
      rmSync(draft, { force: true });
      throw error;
    }
    return new Journal(path, file);
  }

  /** Goes on with a journal of which `size` bytes are whole. */
  static resume(path: string, size: number): Journal {
    const journal = new Journal(path, new AppendFile(path, size));
    journal.append({ record: 'resumed' });
    return journal;
  }

  /** In bytes. */
  get size(): number {
    return this.#file.size;
  }

  /** Throws a RunFileError. */
  append(record: JournalRecord): void {
    this.#file.append(formatRecord(record));
  }

  /** Throws a RunFileError. */
  sync(): void {
    this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }
}
