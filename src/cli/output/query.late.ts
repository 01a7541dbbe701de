import {
  compile,
  isRegistered,
  type JSONObject,
  type JSONValue,
  registerFunction,
  TreeInterpreter,
  TYPE_ARRAY,
  TYPE_ARRAY_NUMBER,
  TYPE_ARRAY_STRING,
  TYPE_EXPREF,
} from '@jmespath-community/jmespath';
import { isLosslessNumber } from 'lossless-json';
import { InvalidInputError } from '../../core/contract/errors.js';
import { isRecord, plainNumber } from '../../core/contract/exact-json.js';

/**
 * Selects from data that lossless-json parsed. Numbers become JavaScript numbers; a number that
 * JavaScript cannot represent exactly becomes its text.
 */
export type Select = ((data: unknown) => unknown) & {
  /** The names that the expression looks for. */
  readonly names: readonly string[];
};

type Query = ReturnType<typeof compile>;

/**
 * Compiles a JMESPath expression.
 *
 * @throws InvalidInputError for an invalid expression; the returned function throws one if the data
 * does not suit it
 */
export function compileQuery(expression: string): Select {
  const query = parse(expression);
  const select = (data: unknown) => {
    try {
      return TreeInterpreter.search(query, plainValue(data));
    } catch (cause) {
      throw new InvalidInputError(`--query does not suit the data: ${(cause as Error).message}`, {
        hint: 'All data was printed instead.',
        cause,
      });
    }
  };
  const fields = [...nodesOf(query)].filter(({ type }) => type === 'Field');
  return Object.assign(select, { names: fields.map(({ name }) => String(name)) });
}

/** A node of the syntax tree of an expression. */
type Node = Partial<Record<string, unknown>>;

/** A node and those inside it; what a literal holds is none. */
function* nodesOf(object: object): Generator<Node> {
  const node: Node = object;
  yield node;
  if (node.type === 'Literal') return;
  for (const inner of Object.values(node))
    if (typeof inner === 'object' && inner) yield* nodesOf(inner);
}

/** @throws InvalidInputError for an invalid expression, also one with an unknown function */
function parse(expression: string): Query {
  try {
    const query = compile(expression, { enable_legacy_literals: true });
    // The library reports an unknown function only with data, when a code is already used up.
    for (const { type, name } of nodesOf(query))
      if (type === 'Function' && !isRegistered(String(name)))
        throw new Error(`there is no function ${name}()`);
    return query;
  } catch (cause) {
    throw new InvalidInputError(
      `--query is not a JMESPath expression: ${(cause as Error).message}`,
      {
        hint: "Quote it for the shell, such as --query 'data.mobile'. Examples are in:",
        commands: ['userinfo help output'],
        cause,
      },
    );
  }
}

/** Copies data into objects without a prototype: an expression would find `constructor` there. */
function plainValue(value: unknown): JSONValue {
  if (isLosslessNumber(value)) return plainNumber(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isRecord(value)) return (value ?? null) as JSONValue;
  const object: JSONObject = Object.create(null);
  for (const [key, inner] of Object.entries(value)) object[key] = plainValue(inner);
  return object;
}

const { runtime } = TreeInterpreter;
const itself = TreeInterpreter.visit(compile('&@'), null) as Query;

/**
 * Corrects the library: its `sort` puts 10 before 9, and its `max_by` and `min_by` do not work on
 * texts.
 */
function correct(
  name: string,
  types: number[][],
  work: (list: JSONValue, key: Query) => JSONValue,
): void {
  const signature = types.map((accepted) => ({ types: accepted }));
  registerFunction(name, ([list, key]) => work(list as JSONValue, key as Query), signature, {
    override: true,
  });
}

function sortBy(list: JSONValue, key: Query): JSONValue[] {
  return runtime.callFunction('sort_by', [list, key]) as JSONValue[];
}

correct('sort', [[TYPE_ARRAY_NUMBER, TYPE_ARRAY_STRING]], (list) => sortBy(list, itself));
correct('max_by', [[TYPE_ARRAY], [TYPE_EXPREF]], (list, key) => sortBy(list, key).at(-1) ?? null);
correct('min_by', [[TYPE_ARRAY], [TYPE_EXPREF]], (list, key) => sortBy(list, key)[0] ?? null);
