import { algorithmFacts } from '../core/signing/digest-algorithms.js';
import { compileSteps, type DigestStep, type Step } from '../core/signing/digest-steps.js';
import type { ParamsRule, Recipe } from '../core/signing/recipe.js';
import { blockSources, stepTexts } from '../core/signing/recipe-language.js';
import {
  parseTemplate,
  parseTemplates,
  type Template,
  type Token,
} from '../core/signing/template.js';
import { orderWords } from './verify/recipe-suspects.js';

/**
 * A recipe in words, on one line: `MD5 of parameters + "&key=" + secret; parameters: k=v joined by
 * "&", …`.
 */
export function describeRecipe(recipe: Recipe): string {
  const { params, output, encode, key, sub } = recipe;
  // In hex, because the words of `output` follow.
  const steps = compileSteps(recipe.steps, 'hex');
  const { tokens } = parseTemplates(recipe.message, 'message');
  const usesBlock = tokens.some(({ source }) => blockSources.has(source));
  const isKeyed = steps.some((step) => step.kind === 'digest' && step.hmac);
  const keyText = describeKey(key);
  return [
    describeSteps(steps, describeMessage(recipe)) + outputWords[output],
    ...(isKeyed && keyText !== 'secret' ? [`key: ${keyText}`] : []),
    ...(usesBlock ? [`parameters: ${describeParams(params, encode.block)}`] : []),
    ...Object.entries(sub).flatMap(([name, { message, steps, key: own }]) => [
      `sub ${name}: ${describeSteps(compileSteps(steps, null), describeEntries(message))}`,
      ...(own === undefined ? [] : [`its key: ${describeKey(own)}`]),
    ]),
  ].join('; ');
}

function describeKey({ tokens, decode }: Recipe['key']): string {
  return describeEntries(tokens) + (decode === 'utf8' ? '' : `, decoded from ${decode}`);
}

const outputWords: Readonly<Record<Recipe['output'], string>> = {
  hex: '',
  HEX: ', in upper-case hex',
  base64: ', in base64',
  base64url: ', in base64url',
  'base64-of-hex': ', as base64 of its hex',
};

function describeMessage({ message, join, encode }: Recipe): string {
  const joined = describeEntries(message, join);
  const encoded = encode.message === 'none' ? joined : `${encode.message}-encoded (${joined})`;
  return encode.lower ? `lower-cased (${encoded})` : encoded;
}

/**
 * Entries of a message or a key; one of several parts is in brackets where a text joins the
 * entries.
 */
function describeEntries(entries: readonly string[], join = ''): string {
  const words = entries.map((entry) => {
    const template = parseTemplate(entry, 'message');
    const text = describeTemplate(template);
    return join === '' || template.parts.length < 2 ? text : `(${text})`;
  });
  return words.join(' + ') + (join === '' ? '' : `, joined by ${quote(join)}`);
}

/** Literals in quotes, and tokens by their names, with their modifiers around them. */
function describeTemplate(template: Template): string {
  const parts = template.parts.map((part) =>
    typeof part === 'string' ? quote(part) : describeToken(part),
  );
  return parts.join(' + ') || quote('');
}

function describeToken({ source, name, modifiers, optional }: Token): string {
  const plain =
    source === 'params' ? 'parameters' : source === 'param' ? name : `${source} ${name}`.trimEnd();
  const changed = modifiers.reduce((text, modifier) => `${modifier}(${text})`, plain);
  if (optional === null) return changed;
  const [before, after] = [optional.before, optional.after].map((text) =>
    text === '' ? [] : [quote(text)],
  );
  const other = optional.other === '' ? '' : ` or ${quote(optional.other)}`;
  return `[${[...(before ?? []), changed, ...(after ?? [])].join(' + ')}${other}]`;
}

function describeSteps(steps: readonly Step[], message: string): string {
  return steps.reduce((text, step) => {
    switch (step.kind) {
      case 'digest':
        return `${digestWords(step)} of ${text}`;
      case 'append':
      case 'prepend':
        return stepTexts[step.kind].words(text, describeTemplate(step.template));
      case 'slice':
        return stepTexts.slice.words(text, `${step.from} to ${step.to}`);
      default:
        return stepTexts[step.kind].words(text);
    }
  }, message);
}

function digestWords({ algorithm, hmac, format }: DigestStep): string {
  const name = (hmac ? 'HMAC-' : '') + algorithmFacts[algorithm].title;
  return format === 'hex' ? name : `${name} (${format})`;
}

function describeParams(params: ParamsRule, block: Recipe['encode']['block']): string {
  const { exclude, include, order, encode, nameCase, add, pairEnd, joinRepeated } = params;
  return [
    describeShape(params),
    ...(params.from === 'both' ? [] : [placeWords[params.from]]),
    typeof order === 'string' ? orderWords[order] : `in the order ${order.join(', ')}`,
    ...(include === null ? [] : [`only ${include.join(', ')}`]),
    ...(exclude.length === 0 ? [] : [`without ${exclude.join(', ')}`]),
    ...(params.empty === 'drop' ? ['empty values left out'] : []),
    ...Object.entries(add).map(
      ([name, value]) =>
        `${value === '$secret' ? 'the secret' : describeEntries([value])} among them as ${quote(name)}`,
    ),
    ...(pairEnd === '' ? [] : [`each followed by ${describeEntries([pairEnd])}`]),
    ...(joinRepeated === null ? [] : [`repeated ones joined by ${quote(joinRepeated)}`]),
    ...Object.entries(params.escape).map(
      ([text, other]) => `${quote(text)} written as ${quote(other)}`,
    ),
    ...(encode === 'none' ? [] : [`${encode}-encoded`]),
    ...(params.json === 'none'
      ? []
      : [params.json === 'both' ? 'as JSON strings' : 'values as JSON strings']),
    ...(params.lengths ? ['each value behind its length'] : []),
    ...(params.case === 'none' ? [] : [`in ${params.case} case`]),
    ...(nameCase === 'none' ? [] : [`names in ${nameCase} case`]),
    ...(block === 'none' ? [] : [`${block}-encoded as a whole`]),
  ].join(', ');
}

export const placeWords: Readonly<Record<Exclude<ParamsRule['from'], 'both'>, string>> = {
  query: 'of the query only',
  form: 'of the form only',
  'form-or-query': 'of the form of a passback, of the query of a read',
};

function describeShape({ names, values, kvSep, pairSep }: ParamsRule): string {
  const pair =
    names && values
      ? kvSep === ''
        ? 'names and values'
        : `k${kvSep}v`
      : names
        ? 'names alone'
        : 'values alone';
  return pairSep === '' ? `${pair} glued together` : `${pair} joined by ${quote(pairSep)}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
