/** An invalid recipe, or one with a feature that the language does not have. */
export class RecipeError extends Error {
  readonly code = 'INVALID_RECIPE';
  /** The path in the recipe, such as `sign.params.order`. */
  readonly field: string;
  /** The next action, in one sentence. */
  readonly hint: string | undefined;

  constructor(field: string, problem: string, hint?: string) {
    super(`${field}: ${problem}`);
    this.name = new.target.name;
    this.field = field;
    this.hint = hint;
  }
}

/** The path of a field inside another; the outermost path is empty. */
export function fieldPath(outer: string, field: string): string {
  return outer === '' ? field : `${outer}.${field}`;
}
