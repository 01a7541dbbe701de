import type { Ink } from './ink.js';
import { compileOrder } from './param-order.js';
import { compileSelection, type Entry } from './param-selection.js';
import { compileParamText } from './param-text.js';
import type { ParamsRule } from './recipe.js';
import { fieldPath, RecipeError } from './recipe-error.js';
import type { Param } from './request.js';
import type { Secret } from './secret.js';
import { parseTemplate, renderTemplate, type Template, tokensOf } from './template.js';

/** The parameters stage: which ones take part, in which order, and how they are written. */
export interface ParamsFormat {
  select(params: readonly Param[], secret: Secret): readonly Entry[];
  /** What `$params` stands for, before `encode.block`; `secret` is what `$secret` in `pairEnd` stands for. */
  writePairs<T>(entries: readonly Entry[], ink: Ink<T>, secret: T): T;
  /** What `$names` stands for. */
  writeNames<T>(entries: readonly Entry[], ink: Ink<T>): T;
  /** What `$values` stands for. */
  writeValues<T>(entries: readonly Entry[], ink: Ink<T>): T;
}

/** @throws RecipeError where the fields of the rule do not go together */
export function compileParams(rule: ParamsRule, field = 'params'): ParamsFormat {
  checkParams(rule, field);
  const { names, values, pairSep } = rule;
  const kvSep = names && values ? rule.kvSep : '';
  const pairEnd = parsePairEnd(rule.pairEnd, fieldPath(field, 'pairEnd'));
  const write = compileParamText(rule);
  const writeKey = (entry: Entry) => (names ? write(entry[0]) : '') + kvSep;
  const writePair = (entry: Entry) => writeKey(entry) + (values ? write(entry[1]) : '');
  const select = compileSelection(rule);
  const order = compileOrder(rule.order, writePair);

  function writeValue<T>([, value, label]: Entry, ink: Ink<T>): T {
    return label === undefined ? ink.open(write(value)) : ink.secret(write(value), label);
  }

  return {
    select: (params, secret) => order(select(params, secret)),
    writePairs(entries, ink, secret) {
      const end = pairEnd.length === 0 ? ink.empty : renderTemplate(pairEnd, ink, () => secret);
      let text = ink.empty;
      let separator = '';
      for (const entry of entries) {
        const isOpen = entry[2] === undefined || !values;
        text = isOpen
          ? ink.join(text, ink.open(separator + writePair(entry)))
          : ink.join(ink.join(text, ink.open(separator + writeKey(entry))), writeValue(entry, ink));
        if (pairEnd.length > 0) text = ink.join(text, end);
        separator = pairSep;
      }
      return text;
    },
    writeNames(entries, ink) {
      return ink.list(
        entries.map(([name]) => ink.open(write(name))),
        pairSep,
      );
    },
    writeValues(entries, ink) {
      return ink.list(
        entries.map((entry) => writeValue(entry, ink)),
        pairSep,
      );
    },
  };
}

function checkParams(rule: ParamsRule, field: string): void {
  if (!rule.names && !rule.values) {
    throw new RecipeError(field, 'names and values are both false', 'Set one of them to true.');
  }
  if (Object.hasOwn(rule.escape, '')) {
    throw new RecipeError(fieldPath(field, 'escape'), 'cannot replace the empty text');
  }
  if (rule.secretAs !== null && Array.isArray(rule.order) && !rule.order.includes(rule.secretAs)) {
    throw new RecipeError(
      fieldPath(field, 'secretAs'),
      `${rule.secretAs} is not in the order`,
      'Add it to params.order, where the secret stands.',
    );
  }
}

function parsePairEnd(text: string, field: string): Template {
  const template = parseTemplate(text, field);
  if (tokensOf(template).every(({ source }) => source === 'secret')) return template;
  throw new RecipeError(field, 'takes no token but $secret');
}
