import { UserInfoError } from '../support/errors.js';

/** An invalid recipe, or one with a feature that the language does not have. */
export class RecipeError extends UserInfoError {
  readonly code = 'INVALID_RECIPE';
  /** The path in the recipe, such as `sign.params.order`. */
  readonly field: string;

  constructor(field: string, problem: string, hint?: string) {
    super(`${field}: ${problem}`, { hint });
    this.field = field;
  }
}

/** The path of a field inside another; the outermost path is empty. */
export function fieldPath(outer: string, field: string): string {
  return outer === '' ? field : `${outer}.${field}`;
}
