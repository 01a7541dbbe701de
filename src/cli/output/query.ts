import { compile, isRegistered, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { InvalidInputError } from '../../protocol/errors.js';
import { keepNumbers } from './query-numbers.js';

/** Takes what a query selects out of data as lossless-json parses it; numbers stay as they were written. */
export type Select = (data: unknown) => unknown;

/** Reads a JMESPath expression. Throws an InvalidInputError; what it returns does, where data does not suit it. */
export function compileQuery(expression: string): Select {
  const query = parse(expression);
  return (data) => {
    try {
      return TreeInterpreter.search(query, data as JSONValue);
    } catch (cause) {
      throw new InvalidInputError(`--query does not suit what is there: ${(cause as Error).message}`, {
        hint: 'All of it was printed instead.',
        cause,
      });
    }
  };
}

function parse(expression: string): ReturnType<typeof compile> {
  try {
    return keepNumbers(compile(expression, { enable_legacy_literals: true }), (name) => {
      if (!isRegistered(name)) throw new Error(`there is no function ${name}()`);
    });
  } catch (cause) {
    throw new InvalidInputError(`--query is not a JMESPath expression: ${(cause as Error).message}`, {
      hint: 'Quote it for the shell, such as --query \'data.mobile\'; "userinfo help output" says more.',
      cause,
    });
  }
}
