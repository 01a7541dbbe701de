import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** What an error says, and what it advises; `…` stands for what is known only when it is thrown. */
interface ErrorText {
  readonly message: string;
  readonly advice: ReadonlySet<string>;
}

type Value = ESTree.Expression | ESTree.SpreadElement | ESTree.BindingPattern;

const source = join(import.meta.dirname, '..', '..', 'src');

/** Errors that no user sees as they are. */
const internal = ['Error', 'TypeError', 'RangeError', 'ReportedError'];

/** The texts of the errors that src throws on purpose, in alphabetical order, by folder of src. */
export function errorTexts(): Map<string, ErrorText[]> {
  const folders = new Map<string, Map<string, Set<string>>>();
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => name.endsWith('.ts')).map(readSource);
  const resultsOf = new Map(files.map(({ name, results }) => [name, results]));
  for (const file of files) {
    const folder = file.name.replace(/[\\/].*/, '');
    const found = folders.get(folder) ?? new Map<string, Set<string>>();
    for (const { message, advice } of errorsOf(file, resultsOf)) {
      found.set(message, new Set([...(found.get(message) ?? []), ...advice]));
    }
    if (found.size > 0) folders.set(folder, found);
  }
  const letters = ({ message }: ErrorText) => message.replace(/[^\p{L} ]/gu, '').trim();
  return new Map(
    [...folders].map(([folder, found]) => [
      folder,
      [...found]
        .map(([message, advice]) => ({ message, advice }))
        .sort((a, b) => (letters(a) < letters(b) ? -1 : 1)),
    ]),
  );
}

/** A file of src: the arguments of its errors, and what an identifier in them can stand for. */
interface Source {
  readonly name: string;
  readonly errors: readonly { readonly name: string; readonly values: readonly Value[] }[];
  readonly constants: ReadonlyMap<string, readonly Value[]>;
  /** What its functions return. */
  readonly results: ReadonlyMap<string, readonly Value[]>;
  /** The files that its imported names come from. */
  readonly imports: ReadonlyMap<string, string>;
}

function readSource(name: string): Source {
  const errors: { readonly name: string; readonly values: readonly Value[] }[] = [];
  const constants = new Map<string, Value[]>();
  const results = new Map<string, Value[]>();
  const imports = new Map<string, string>();
  const add = (to: Map<string, Value[]>, key: string | undefined, value: Value | null) => {
    if (key !== undefined && value !== null) to.set(key, [...(to.get(key) ?? []), value]);
  };
  const functions: (string | undefined)[] = [];
  let className = '';
  const isTable = name.endsWith('-errors.ts');
  new Visitor({
    ClassDeclaration: ({ id }) => {
      className = id?.name ?? '';
    },
    ImportDeclaration: ({ source: { value: from }, specifiers }) => {
      for (const { local } of specifiers)
        imports.set(local.name, join(name, '..', from.replace(/js$/, 'ts')));
    },
    FunctionDeclaration: ({ id }) => functions.push(id?.name),
    'FunctionDeclaration:exit': () => functions.pop(),
    ReturnStatement: ({ argument }) => add(results, functions.at(-1), argument),
    VariableDeclarator: ({ id, init }) => {
      // The names of a pattern hide others, and have no text that is known.
      const parts = id.type === 'ObjectPattern' ? id.properties : [];
      const bound = parts.map((one) => (one.type === 'RestElement' ? one.argument : one.value));
      for (const one of [id, ...bound])
        if (one.type === 'Identifier') add(constants, one.name, one === id ? init : id);
    },
    NewExpression: ({ callee, arguments: given }) => {
      if (callee.type === 'Identifier') errors.push({ name: callee.name, values: given });
    },
    CallExpression: ({ callee, arguments: given }) => {
      if (callee.type === 'Super') errors.push({ name: className, values: given });
    },
    // Tables of faults: of a transport with `message` and `hint`, of a database [message, class, hint].
    ObjectExpression: ({ properties }) => {
      const [message, hint] = ['message', 'hint'].map((key) => propertyOf(properties, key));
      if (isTable && message && hint) errors.push({ name: 'TableError', values: [message, hint] });
    },
    ArrayExpression: ({ elements }) => {
      const known = elements.filter((one) => one !== null);
      if (isTable && known[0]?.type === 'Literal') errors.push({ name: 'TableError', values: known });
    },
  }).visit(parseSync(name, readFileSync(join(source, name), 'utf8')).program);
  return { name, errors, constants, results, imports };
}

function errorsOf(file: Source, resultsOf: ReadonlyMap<string, Source['results']>): ErrorText[] {
  const valuesOf = (key: string, outer: readonly string[]) => {
    // A function of another file is followed where it makes the message itself.
    const imported = outer.length === 0 ? resultsOf.get(file.imports.get(key) ?? '')?.get(key) : undefined;
    return file.constants.get(key) ?? file.results.get(key) ?? imported ?? [];
  };

  /** The texts that an expression can have. */
  function textsOf(value: Value | undefined, outer: readonly string[] = []): string[] {
    const texts = (inner: Value) => textsOf(inner, outer);
    const named = (key: string, choose: (all: readonly Value[]) => readonly Value[]) =>
      outer.includes(key) ? [] : choose(valuesOf(key, outer)).flatMap((one) => textsOf(one, [...outer, key]));
    const all = (found: readonly Value[]) => found;
    switch (value?.type) {
      case 'Literal':
        return typeof value.value === 'string' && value.value !== '' ? [value.value] : [];
      case 'TemplateLiteral':
        return [
          value.quasis
            .map((part) => part.value.cooked ?? '')
            .join('…')
            .replace(/…[… ]*…/g, '…'),
        ];
      case 'ConditionalExpression':
        return [value.consequent, value.alternate].flatMap(texts);
      case 'LogicalExpression':
        return [value.left, value.right].flatMap(texts);
      case 'ArrowFunctionExpression':
        return value.body.type === 'BlockStatement' ? [] : texts(value.body);
      case 'Identifier':
        // Of several constants with this name, the nearest above.
        return named(value.name, (found) =>
          (found.length > 1 ? found.filter(({ start }) => start < value.start) : found).slice(-1),
        );
      case 'CallExpression':
        return value.callee.type === 'Identifier' ? named(value.callee.name, all) : [];
      case 'MemberExpression':
        return value.object.type === 'Identifier' ? named(value.object.name, all) : [];
      case 'ObjectExpression':
        return value.properties.flatMap((one) => (one.type === 'Property' ? texts(one.value) : []));
      default:
        return [];
    }
  }

  const adviceOf = (value: Value) =>
    textsOf(value.type === 'ObjectExpression' ? propertyOf(value.properties, 'hint') : value);

  return file.errors
    .filter((error) => error.name.endsWith('Error') && !internal.includes(error.name))
    .flatMap(({ name: error, values: [first, ...rest] }) => {
      // The field comes first in an error of a recipe.
      const isSecond = error === 'RecipeError';
      const [field = '…'] = textsOf(first).filter((text) => !text.includes('….'));
      const messages = textsOf(isSecond ? rest[0] : first).map((text) =>
        error === 'RecipeError' ? `${field}: ${text}` : text,
      );
      const advice = new Set((isSecond ? rest.slice(1) : rest).flatMap(adviceOf));
      return messages
        .filter((message) => message.replace(/\P{L}/gu, '').length >= 7)
        .map((message) => ({ message, advice }));
    });
}

/** The value of a property. */
function propertyOf(properties: ESTree.ObjectExpression['properties'], name: string): Value | undefined {
  const found = properties.find(
    (one) => one.type === 'Property' && one.key.type === 'Identifier' && one.key.name === name,
  );
  return found?.type === 'Property' ? found.value : undefined;
}
