/** The function with its results kept by argument, for as long as the function itself is. */
export function memoize<A, T>(make: (argument: A) => T): (argument: A) => T {
  const made = new Map<A, T>();
  return (argument) => {
    const kept = made.get(argument);
    if (kept !== undefined) return kept;
    const result = make(argument);
    made.set(argument, result);
    return result;
  };
}
