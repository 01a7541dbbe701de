/** A function that makes something for each of its arguments once. */
export function once<A, T>(make: (argument: A) => T): (argument: A) => T {
  const made = new Map<A, T>();
  return (argument) => {
    const known = made.get(argument);
    if (known !== undefined) return known;
    const result = make(argument);
    made.set(argument, result);
    return result;
  };
}
