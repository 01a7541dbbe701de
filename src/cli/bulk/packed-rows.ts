import type { SignedRow } from '../../bulk/engine/prepared-row.js';
import type { Endpoint } from '../../protocol/endpoints.js';

/** Many rows as they go to another thread, and come back: one list of texts is what is copied soonest. */
export type Packed = readonly (string | null)[];

/** The texts of one row after the other; nulls for a row that has not `textsPerRow` of them, and is invalid. */
export function packRows(rows: Iterable<readonly string[]>, textsPerRow: number): Packed {
  const packed: (string | null)[] = [];
  for (const texts of rows) {
    for (let at = 0; at < textsPerRow; at += 1) {
      packed.push(texts.length === textsPerRow ? (texts[at] ?? null) : null);
    }
  }
  return packed;
}

/** The texts of each row; `null` for one that is invalid. */
export function unpackRows(packed: Packed, textsPerRow: number): (readonly string[] | null)[] {
  const rows: (readonly string[] | null)[] = [];
  for (let at = 0; at < packed.length; at += textsPerRow) {
    const texts = packed.slice(at, at + textsPerRow);
    rows.push(texts.every((text) => text !== null) ? texts : null);
  }
  return rows;
}

/** User, target and body of one row after the other; `null` for the target of what cannot be sent. */
export function packSigned(rows: readonly (SignedRow | null)[]): Packed {
  return rows.flatMap((row) => [row?.user ?? null, row?.request.target ?? null, row?.request.body ?? null]);
}

export function unpackSigned(packed: Packed, endpoint: Endpoint): (SignedRow | null)[] {
  const rows: (SignedRow | null)[] = [];
  for (let at = 0; at < packed.length; at += 3) {
    const [user = null, target = null, body = null] = packed.slice(at, at + 3);
    rows.push(target === null ? null : { user, request: { endpoint, target, body } });
  }
  return rows;
}
