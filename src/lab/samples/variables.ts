import { SampleError } from './captured-request.js';

const variable = /\{\{([^{}]{1,200})\}\}/g;
/** Characters that all requests of a text may take from variables: these can name each other. */
const maxCharacters = 5_000_000;

/** How deep values may name each other. */
const levels = 2;

/** Values of the variables of a Postman collection, or of a folder in it, by name. */
export class Variables {
  readonly #values: ReadonlyMap<string, string>;
  readonly #outer: Variables | null;
  /** How many of `maxCharacters` are left: one count for a collection and all its folders. */
  readonly #budget: { left: number };

  constructor(values: ReadonlyMap<string, string> = new Map(), outer: Variables | null = null) {
    this.#values = values;
    this.#outer = outer;
    this.#budget = outer === null ? { left: maxCharacters } : outer.#budget;
  }

  #get(name: string): string | undefined {
    const value = this.#values.get(name);
    if (value !== undefined || this.#outer === null) return value;
    return this.#outer.#get(name);
  }

  /** Whether each variable in a text has a value. */
  has(text: string): boolean {
    return [...text.matchAll(variable)].every(
      ([, name = '']) => this.#get(name.trim()) !== undefined,
    );
  }

  /**
   * A text with the variables replaced; a value may name others, two levels deep.
   *
   * @throws SampleError for a variable whose value the collection does not have
   */
  fill(text: string): string {
    let filled = text;
    for (let level = 0; level < levels && filled.includes('{{'); level++) {
      filled = filled.replace(variable, (written, name: string) => {
        return this.#take(written, name.trim());
      });
    }
    // What is left names variables deeper than that, such as itself.
    const [remaining] = filled.match(variable) ?? [];
    if (remaining !== undefined) throw withoutValue(remaining);
    return filled;
  }

  /** The value of the variable that stands there; its characters are taken from the budget. */
  #take(written: string, name: string): string {
    const value = this.#get(name);
    this.#budget.left -= value?.length ?? 0;
    if (value === undefined || this.#budget.left <= 0) throw withoutValue(written);
    return value;
  }
}

function withoutValue(written: string): SampleError {
  return new SampleError(
    `the request holds ${written.slice(0, 60)}, a variable without a value`,
    'An export has no values of environments and scripts. ' +
      'Take "Code", then cURL: that has them.',
  );
}
