/** Looks at the first bytes of a stream: at least `size` of them, where there are so many. */
export async function peek(
  bytes: AsyncIterable<Buffer>,
  size: number,
): Promise<{ head: Buffer; whole: AsyncGenerator<Buffer> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < size) {
    const next = await iterator.next();
    if (next.done) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, whole: putBack(head, iterator) };
}

async function* putBack(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* { [Symbol.asyncIterator]: () => iterator };
}
