/** Whether two names differ by at most one letter, or by two letters that are swapped. */
export function isSlip(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let [end, otherEnd] = [one.length, other.length];
  while (end > start && otherEnd > start && one[end - 1] === other[otherEnd - 1]) {
    end -= 1;
    otherEnd -= 1;
  }
  const [left, right] = [one.slice(start, end), other.slice(start, otherEnd)];
  const isSwapped =
    left.length === 2 && left[0] === right[1] && left[1] === right[0] && right.length === 2;
  return (left.length <= 1 && right.length <= 1) || isSwapped;
}
