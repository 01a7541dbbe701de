import { SampleError } from './sample-error.js';

const variable = /\{\{([^{}]{1,200})\}\}/g;
/** Characters that all requests of a text may take from variables: these can name each other. */
const maxCharacters = 5_000_000;

/** Values of the variables of a Postman collection, or of a folder in it, by name. */
export class Variables {
  readonly #values: ReadonlyMap<string, string>;
  readonly #outer: Variables | null;
  readonly #budget: { left: number };

  constructor(values: ReadonlyMap<string, string> = new Map(), outer: Variables | null = null) {
    this.#values = values;
    this.#outer = outer;
    this.#budget = outer === null ? { left: maxCharacters } : outer.#budget;
  }

  #get(name: string): string | undefined {
    return this.#values.get(name) ?? (this.#outer === null ? undefined : this.#outer.#get(name));
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
    for (let level = 0; level < 3 && filled.includes('{{'); level++) {
      filled = filled.replace(variable, (whole, name: string) => {
        const value = level === 2 ? undefined : this.#get(name.trim());
        this.#budget.left -= value?.length ?? 0;
        if (value !== undefined && this.#budget.left > 0) return value;
        throw new SampleError(
          `the request holds ${whole.slice(0, 60)}, a variable without a value`,
          'An export has no values of environments and scripts. Take "Code", then cURL: that has them.',
        );
      });
    }
    return filled;
  }
}
