/** The rows that `writeRows` writes, as objects, made one by one. */
export function* madeRows(count) {
  for (let i = 0; i < count; i += 1) {
    yield { union_id: `u${i}`, acme_level: 'gold', mobile: String(13_800_000_000 + i), age: '28' };
  }
}
