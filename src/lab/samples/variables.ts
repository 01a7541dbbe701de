import { SampleError } from './sample-error.js';

const variable = /\{\{([^{}]{1,200})\}\}/g;
/** Characters that all requests of a text may take from variables: these can name each other. */
const maxCharacters = 5_000_000;

/** Values of a tool's variables by name: of a folder around a request, or of all environments. */
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

  /**
   * A text with the variables replaced; a value may name others, two levels deep.
   *
   * @throws SampleError for a variable whose value the text does not have
   */
  fill(text: string): string {
    let filled = text;
    for (let level = 0; level < 3 && filled.includes('{{'); level++) {
      filled = filled.replace(variable, (whole, given: string) => {
        const value = level === 2 ? undefined : this.#get(given.trim().replace(/^_\./, ''));
        this.#budget.left -= value?.length ?? 0;
        if (value !== undefined && this.#budget.left > 0) return value;
        throw new SampleError(
          `the request holds ${whole.slice(0, 60)}, a variable without a value`,
          'The text has no values of environments and scripts. Export the request as cURL: that has the values.',
        );
      });
    }
    return filled;
  }
}
