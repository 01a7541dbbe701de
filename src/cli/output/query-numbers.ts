import { type compile, type JSONValue, register, TYPE_ANY } from '@jmespath-community/jmespath';
import { isLosslessNumber, isNumber, LosslessNumber, stringify } from 'lossless-json';
import { isObject } from './nested.js';

/** A part of a compiled query. */
type Node = ReturnType<typeof compile>;
type Call = Extract<Node, { type: 'Function' }>;

/** Functions that hand their arguments on, or look at them as a whole: numbers go through them untouched. */
const carriers = new Set(
  'from_items group_by items map merge not_null reverse to_array values zip'.split(' '),
);

/**
 * The same query for data whose numbers are lossless ones: they are carried along, and become JavaScript's only where
 * the query computes or compares. `checkFunction` is told each function that is called.
 */
export function keepNumbers(node: Node, checkFunction: (name: string) => void): Node {
  const rewrite = (inner: Node): Node => {
    if (inner.type === 'Literal') return inner;
    const entries = Object.entries(inner).map(([key, value]) => [key, rewriteParts(value)]);
    return replace(Object.fromEntries(entries));
  };
  const rewriteParts = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewriteParts);
    return typeof value === 'object' && value !== null ? rewrite(value as Node) : value;
  };
  const replace = (inner: Node): Node => {
    switch (inner.type) {
      case 'Field':
        return call('@field', { type: 'Current' }, { type: 'Literal', value: inner.name });
      case 'ValueProjection':
        return { ...inner, left: call('@object', inner.left) };
      case 'Comparator':
      case 'Arithmetic':
        return { ...inner, left: computed(inner.left), right: computed(inner.right) };
      case 'Unary':
        return { ...inner, operand: computed(inner.operand) };
      case 'Function':
        checkFunction(inner.name);
        return replaceCall(inner);
      default:
        return inner;
    }
  };
  return rewrite(node);
}

function replaceCall(node: Call): Node {
  const [list, key] = node.children;
  const [, verb = '', by] = /^(sort|min|max)(_by)?$/.exec(node.name) ?? [];
  if (verb !== '') {
    // A wrong number of arguments is for the library to report.
    if (list === undefined || (by === undefined) !== (key === undefined)) return node;
    return ordered(verb, list, key ?? { type: 'ExpressionReference', child: { type: 'Current' } });
  }
  if (node.name === 'to_string' || node.name === 'to_number') return { ...node, name: `@${node.name}` };
  return carriers.has(node.name) ? node : { ...node, children: node.children.map(computed) };
}

/** The library sorts numbers as text, and finds no greatest text by `max_by`: its `sort_by` does both rightly. */
function ordered(verb: string, list: Node, key: Node): Node {
  const compared = key.type === 'ExpressionReference' ? { ...key, child: computed(key.child) } : key;
  const sorted = call('sort_by', list, compared);
  return verb === 'sort'
    ? sorted
    : { type: 'Pipe', left: sorted, right: { type: 'Index', value: verb === 'min' ? 0 : -1 } };
}

function computed(node: Node): Node {
  return node.type === 'ExpressionReference' ? node : call('@number', node);
}

function call(name: string, ...children: Node[]): Node {
  return { type: 'Function', name, children };
}

/** Functions of ours: no expression can name them, because of the @. */
function define(name: string, work: (...values: unknown[]) => unknown): void {
  const signature = Array.from({ length: work.length }, () => ({ types: [TYPE_ANY] }));
  register(name, (values) => (work(...values) ?? null) as JSONValue, signature);
}

/** The library would also find what every JavaScript object has, such as `constructor`. */
define('@field', (object, name) =>
  isObject(object) && Object.hasOwn(object, String(name)) ? object[String(name)] : null,
);
define('@object', (value) => (isObject(value) ? value : null));
define('@number', toNumbers);
define('@to_string', (value) => (typeof value === 'string' ? value : stringify(value)));
define('@to_number', (value) => {
  if (typeof value === 'number' || isLosslessNumber(value)) return value;
  return typeof value === 'string' && isNumber(value) ? new LosslessNumber(value) : null;
});

function toNumbers(value: unknown): unknown {
  if (isLosslessNumber(value)) return Number(value.toString());
  if (Array.isArray(value)) return value.map(toNumbers);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toNumbers(inner)]));
}
