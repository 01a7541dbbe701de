/** Shows each chunk to `onChunk` as it passes. */
export async function* watchBytes(
  bytes: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    onChunk(chunk);
    yield chunk;
  }
}
