const pageSize = 500;

/**
 * Everything of an ordered list, page by page: never held whole, and no transaction stays open between two pages.
 * `after` is the key of the last one taken, empty at first.
 */
export async function* listAll<T>(
  readPage: (after: string, limit: number) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): AsyncGenerator<T, void, undefined> {
  let after = '';
  for (;;) {
    const page = await readPage(after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = keyOf(last);
  }
}
