/** How many rows of an iterable are taken at once. */
const batchSize = 256;

/** Rows in batches; those that arrive one by one are passed on one by one. */
export async function* toBatches<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
): AsyncGenerator<readonly Row[]> {
  if (Symbol.asyncIterator in rows) {
    for await (const row of rows) yield [row];
    return;
  }
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
