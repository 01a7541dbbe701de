import { placesIn } from './layout.js';

interface Bracket {
  readonly outer: Bracket | null;
  /** Braces, where the spacing does not depend on what is around; also the statement. */
  readonly isBlock: boolean;
  hasComma: boolean;
  hasSum: boolean;
}

/** A statement with its sums as gofmt writes them: without spaces in one of several arguments, or in a sum. */
export function withDenseSums(line: string): string {
  const sums: [at: number, bracket: Bracket][] = [];
  let bracket: Bracket = { outer: null, isBlock: true, hasComma: false, hasSum: false };
  for (const { at } of placesIn(line)) {
    const character = line.charAt(at);
    if ('([{'.includes(character)) {
      bracket = { outer: bracket, isBlock: character === '{', hasComma: false, hasSum: false };
    } else if (')]}'.includes(character)) bracket = bracket.outer ?? bracket;
    else if (character === ',') bracket.hasComma = true;
    else if (character === '+') {
      bracket.hasSum = true;
      sums.push([at, bracket]);
    }
  }
  const dense = sums.filter(([, inner]) => !inner.isBlock && (inner.hasComma || isDenseIn(inner.outer)));
  return dense.reduceRight((text, [at]) => `${text.slice(0, at - 1)}+${text.slice(at + 2)}`, line);
}

function isDenseIn(bracket: Bracket | null): boolean {
  if (bracket === null) return false;
  if (bracket.hasSum || (bracket.hasComma && !bracket.isBlock)) return true;
  return !bracket.isBlock && isDenseIn(bracket.outer);
}
