// Many rows of a file: read as fast as they can be sent, with progress, until all are done or a
// signal ends it.
import { open } from 'node:fs/promises';
import type { Outcome, UserInfoClient } from 'userinfo-exchange';

interface Row {
  readonly unionId: string;
  readonly userInfo: Readonly<Record<string, string | number>>;
}

/** One row of JSON a line. The next line is read when there is room for it. */
export async function* linesOf(path: string): AsyncGenerator<Row> {
  await using file = await open(path);
  for await (const line of file.readLines()) yield JSON.parse(line);
}

export type Progress = Readonly<Record<Outcome, number>>;

export async function passBackAll(
  client: UserInfoClient,
  rows: AsyncIterable<Row>,
  {
    signal,
    report,
  }: { readonly signal?: AbortSignal; readonly report: (progress: Progress) => void },
): Promise<Row[]> {
  const progress = { ok: 0, failed: 0, invalid: 0, unknown: 0 };
  const again: Row[] = [];
  const pace = { concurrency: 16, ratePerSecond: 2_000, ...(signal && { signal }) };
  for await (const { row, index, outcome } of client.passbackAll(rows, pace)) {
    progress[outcome] += 1;
    // Nobody knows whether it was written: a passback can be sent again.
    if (outcome === 'unknown') again.push(row);
    if (index % 100 === 0) report(progress);
  }
  report(progress);
  return again;
}
