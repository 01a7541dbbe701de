/** Whether two names differ by at most one letter, or by two letters that are swapped. */
export function isSlip(first: string, second: string): boolean {
  let start = 0;
  while (start < first.length && first[start] === second[start]) start += 1;
  let firstEnd = first.length;
  let secondEnd = second.length;
  while (firstEnd > start && secondEnd > start && first[firstEnd - 1] === second[secondEnd - 1]) {
    firstEnd -= 1;
    secondEnd -= 1;
  }
  // What is left between the same beginning and the same end.
  const left = first.slice(start, firstEnd);
  const right = second.slice(start, secondEnd);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right === `${left[1]}${left[0]}`;
}
