import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Recorder } from '../../../../../src/cli/commands/bulk/files/recorder.js';
import { RunFiles } from '../../../../../src/cli/commands/bulk/files/run-files.js';
import {
  passbackOperation,
  readOperation,
} from '../../../../../src/cli/commands/bulk/operations.js';
import { NdjsonRow } from '../../../../../src/cli/commands/bulk/source/ndjson.js';
import type { FileRow } from '../../../../../src/cli/commands/bulk/source/rows.js';
import type { Answer } from '../../../../../src/client/call/answer.js';
import { NoAnswerError } from '../../../../../src/client/call/errors.js';
import type { RowOutcome } from '../../../../../src/client/rows/outcome.js';
import { InvalidInputError } from '../../../../../src/core/contract/errors.js';

/** More of them show the same at full size. */
const variants = 60;

/** In memory, where there are no disks to wait for. */
const folder = mkdtempSync(
  join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'userinfo-damaged-'),
);
afterAll(() => rmSync(folder, { recursive: true }));
const paths = { journal: join(folder, 'j'), results: join(folder, 'r'), failed: null };

type Operation = 'read' | 'passback';
const operations = {
  read: readOperation([], undefined),
  passback: passbackOperation({ by: 'union_id', column: 'union_id' }),
};

/** What a run left behind that was killed, and what it had done. */
interface Killed {
  readonly journal: Buffer;
  readonly results: Buffer;
  /**
   * How much of the results the journal knows, in bytes: the rest is of the last 500 ms, and has no
   * checksum yet.
   */
  readonly recorded: number;
  /** The results lines by row. */
  readonly lines: ReadonlyMap<number, string>;
  /** Rows that the service may have seen. */
  readonly sent: ReadonlySet<number>;
}

/**
 * A run that is killed after some turns, each of which sends four rows and has the outcomes of
 * those before.
 */
async function killedRun(operation: Operation, turns: number): Promise<Killed> {
  rmSync(paths.journal, { force: true });
  rmSync(paths.results, { force: true });
  const files = new RunFiles(paths, 'new', operations[operation]);
  await files.claim();
  const record = await files.open({ run: operation });
  const { journal, results } = record;
  let now = 0;
  const recorder = new Recorder(
    operations[operation],
    record,
    () => {},
    () => now,
  );
  const sent = new Set<number>();
  let inFlight: FileRow[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    now += 200; // a record of the results every third turn
    for (const row of inFlight) recorder.onOutcome(outcomeOf(row), null);
    recorder.onTurn();
    inFlight = Array.from({ length: 4 }, (_, i) => new NdjsonRow(2 + turn * 4 + i, `{"n":${i}}`));
    const toSend = inFlight.filter(({ line }) => !isInvalid(line));
    recorder.onSend(toSend);
    for (const { line } of toSend) sent.add(line);
  }
  journal?.close();
  results.close();
  files.release();
  const text = readFileSync(paths.results, 'utf8');
  const recorded = Number(
    /.*"results":\{"size":(\d+)/s.exec(readFileSync(paths.journal, 'utf8'))?.[1],
  );
  const lines = new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line): [number, string] => [JSON.parse(line).line, line]),
  );
  return {
    journal: readFileSync(paths.journal),
    results: Buffer.from(text),
    recorded,
    lines,
    sent,
  };
}

const noAnswer = new NoAnswerError('no answer', { reason: 'timeout', received: false });
const answer = {
  envelope: { code: 200, msg: 'ok', data: {} },
  body: Buffer.from('{"code":200,"msg":"ok","data":{"mobile":"13800138000"}}'),
} as unknown as Answer;

/** The last of each four rows is never sent. */
const isInvalid = (line: number) => line % 4 === 1;

function outcomeOf(row: FileRow): RowOutcome<FileRow> {
  if (isInvalid(row.line)) {
    return { row, attempts: 0, outcome: 'invalid', error: new InvalidInputError('not a row') };
  }
  if (row.line % 13 === 0) return { row, attempts: 1, outcome: 'unknown', error: noAnswer };
  return { row, attempts: 1, outcome: 'ok', answer };
}

const damages: Readonly<Record<string, (bytes: Buffer, at: number, bit: number) => Buffer>> = {
  'a cut': (bytes, at) => bytes.subarray(0, at),
  'a flipped bit': (bytes, at, bit) => {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
    return flipped;
  },
  'a tail of NUL': (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]),
  'NUL behind it': (bytes, at) => Buffer.concat([bytes, Buffer.alloc(at)]),
};

/** What comes of resuming from files as they are now. */
async function resume({ lines, sent }: Killed, operation: Operation) {
  const isRead = operation === 'read';
  const found = readFileSync(paths.results, 'utf8').split('\n').slice(0, -1);
  const files = new RunFiles(paths, 'resume', operations[operation]);
  try {
    await files.claim();
    const { journal, results, state, note } = await files.open({ run: operation });
    journal?.close();
    results.close();
    const kept = new Map<number, string>();
    for (const line of readFileSync(paths.results, 'utf8').split('\n').slice(0, -1)) {
      const { line: number } = JSON.parse(line);
      expect(kept.has(number), 'a row has two lines').toBe(false);
      kept.set(number, line);
    }
    const settled = [...state.settled];
    const isDone = (line: number) => state.settled.has(line) || (isRead && state.unknown.has(line));
    return {
      isRefused: false,
      isSaid: note !== null,
      /** Rows that will not be sent and whose line is gone, or another. */
      lost: settled.filter((line) => kept.get(line) !== lines.get(line)),
      /** Rows that have a line still, and will be sent again. */
      doubled: [...lines]
        .filter(([line, text]) => found.includes(text) && !isDone(line))
        .map(([line]) => line),
      /** Codes that are used up, and will be sent again. */
      usedAgain: isRead ? [...sent].filter((line) => !isDone(line)) : [],
    };
  } catch (error) {
    if ((error as { code?: string }).code !== 'INVALID_INPUT') throw error;
    return { isRefused: true, isSaid: true, lost: [], doubled: [], usedAgain: [] };
  } finally {
    files.release();
  }
}

const intact = { isRefused: false, isSaid: false, lost: [], doubled: [], usedAgain: [] };

describe.each<Operation>(['read', 'passback'])(
  'a %s that was killed',
  { timeout: 600_000 },
  (operation) => {
    it('is resumed without loss and without a warning', async () => {
      const killed = await killedRun(operation, 20);
      expect(await resume(killed, operation)).toEqual(intact);
    });

    it('and killed again while it is resumed, is resumed without loss', async () => {
      const killed = await killedRun(operation, 20);
      await resume(killed, operation);
      const journal = readFileSync(paths.journal, 'utf8');
      const records = journal.split('\n');
      const resumed = records.findIndex((record) => record.includes('"record":"resumed"'));
      writeFileSync(paths.journal, `${records.slice(0, resumed + 1).join('\n')}\n`);
      writeFileSync(paths.results, killed.results);
      expect(await resume(killed, operation)).toEqual(intact);
    });

    const cases = (['journal', 'results'] as const).flatMap((file) =>
      Object.keys(damages).map((damage) => [file, damage] as const),
    );
    it.each(cases)(
      'and whose %s has %s loses nothing, and reports what it repeats',
      async (file, damage) => {
        const runs: Killed[] = [];
        for (const turns of [7, 20, 29]) runs.push(await killedRun(operation, turns));
        const place = fc.record({
          run: fc.constantFrom(...runs),
          where: fc.nat(99_999),
          bit: fc.nat(7),
        });
        await fc.assert(
          fc.asyncProperty(place, async ({ run, where, bit }) => {
            const isFlipped = damage === 'a flipped bit';
            const size = file === 'results' && isFlipped ? run.recorded : run[file].length;
            const at = Math.floor((where / 100_000) * size);
            writeFileSync(paths.journal, run.journal);
            writeFileSync(paths.results, run.results);
            writeFileSync(paths[file], damages[damage]?.(run[file], at, bit) ?? '');
            const found = await resume(run, operation);
            expect(found.lost).toEqual([]);
            if (operation === 'passback' && found.isSaid) return;
            expect(found.doubled).toEqual([]);
            // A journal that ends earlier, whole, looks like that of an earlier kill. No kill and
            // no power cut makes that.
            if (`${file} ${damage}` !== 'journal a cut') expect(found.usedAgain).toEqual([]);
          }),
          { numRuns: variants },
        );
      },
    );
  },
);
