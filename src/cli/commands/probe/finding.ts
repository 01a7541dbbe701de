// Apart from index.ts: only a run of the command loads it.

/** The value of a field, and how it shows; `undefined` if it is not known, and why. */
export interface FieldFinding<T> {
  readonly value: T | undefined;
  readonly isFound: boolean;
  readonly detail: string;
}

export function found<T>(value: T, detail: string): FieldFinding<T> {
  return { value, isFound: true, detail };
}

export function open(detail: string): FieldFinding<never> {
  return { value: undefined, isFound: false, detail };
}
