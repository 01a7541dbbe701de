import { algorithms } from '../signing/digest-algorithms.js';
import type { ParamsRule, Recipe } from '../signing/recipe.js';
import { stepTexts } from '../signing/recipe-language.js';
import { orderWords } from '../signing/verify/recipe-suspects.js';

/** A recipe in words, on one line: `MD5 of parameters + "&key=" + secret; parameters: k=v joined by "&", …`. */
export function describeRecipe(recipe: Recipe): string {
  const { params, steps, output, encode, key } = recipe;
  const message = describeMessage(recipe);
  const usesBlock = /\$(?:params|names|values)\b/.test(recipe.message.join(' '));
  const isKeyed = steps.some((step) => step.startsWith('hmac-'));
  const keyText = describeKey(key);
  return [
    describeSteps(steps, message) + outputWords[output],
    ...(isKeyed && keyText !== 'secret' ? [`key: ${keyText}`] : []),
    ...(usesBlock ? [`parameters: ${describeParams(params, encode.block)}`] : []),
    ...(recipe.sub === null
      ? []
      : [`sub: ${describeSteps(recipe.sub.steps, recipe.sub.message.map(describeEntry).join(' + '))}`]),
    ...(recipe.sub?.key === undefined ? [] : [`its key: ${describeKey(recipe.sub.key)}`]),
  ].join('; ');
}

function describeKey({ tokens, decode }: Recipe['key']): string {
  return tokens.map(describeEntry).join(' + ') + decodeWords[decode];
}

const outputWords: Readonly<Record<Recipe['output'], string>> = {
  hex: '',
  HEX: ', in upper-case hex',
  base64: ', in base64',
  base64url: ', in base64url',
  'base64-of-hex': ', as base64 of its hex',
};

const decodeWords: Readonly<Record<Recipe['key']['decode'], string>> = {
  utf8: '',
  hex: ', decoded from hex',
  base64: ', decoded from base64',
  base64url: ', decoded from base64url',
};

function describeMessage({ message, join, encode }: Recipe): string {
  const joined = message.map(describeEntry).join(' + ') + (join === '' ? '' : `, joined by ${quote(join)}`);
  const encoded = encode.message === 'none' ? joined : `${encode.message}-encoded (${joined})`;
  return encode.lower ? `lower-cased (${encoded})` : encoded;
}

/** An entry of `message`: a literal in quotes, or a token by its name with its modifiers around it. */
function describeEntry(entry: string): string {
  const [, name, modifiers = ''] =
    /^\$\{?((?:param|extra):[^{}]+?|\w+)\}?((?:\.[\w:-]+)*)$/.exec(entry) ?? [];
  if (name === undefined) return quote(entry.replaceAll('$$', '$'));
  const plain = name === 'params' ? 'parameters' : name.replace(/^param:/, '').replace(':', ' ');
  return modifiers
    .split('.')
    .slice(1)
    .reduce((text, modifier) => `${modifier}(${text})`, plain);
}

function describeSteps(steps: readonly string[], message: string): string {
  let text = message;
  steps.forEach((step, index) => {
    const [, kind = '', rest = ''] = /^([\w-]+):?(.*)$/s.exec(step) ?? [];
    const digest = digestName(step);
    if (digest === null) {
      const { words } = stepTexts[kind as keyof typeof stepTexts];
      text = words(text, kind === 'slice' ? rest : describeTemplate(rest));
    } else {
      const isLast = steps.slice(index + 1).every((later) => digestName(later) === null);
      text = `${digest}${isLast || rest === '' ? '' : ` (${rest})`} of ${text}`;
    }
  });
  return text;
}

function describeTemplate(template: string): string {
  const parts = template.match(/\$\$|\$\{[^{}]*\}(?:\.[\w:-]+)*|\$[\w.:-]+|[^$]+/g) ?? [];
  return parts.map(describeEntry).join(' + ');
}

function digestName(step: string): string | null {
  const [, hmac, name] = /^(hmac-)?(\w+)/.exec(step) ?? [];
  const algorithm = algorithms.find((known) => known === name);
  if (algorithm === undefined) return null;
  return `${hmac === undefined ? '' : 'HMAC-'}${algorithm.toUpperCase().replace('SHA', 'SHA-')}`;
}

function describeParams(params: ParamsRule, block: Recipe['encode']['block']): string {
  const { exclude, include, order, encode, nameCase, add, pairEnd, joinRepeated } = params;
  return [
    describeShape(params),
    typeof order === 'string' ? orderWords[order] : `in the order ${order.join(', ')}`,
    ...(include === null ? [] : [`only ${include.join(', ')}`]),
    ...(exclude.length === 0 ? [] : [`without ${exclude.join(', ')}`]),
    ...(params.empty === 'drop' ? ['empty values left out'] : []),
    ...Object.entries(add).map(
      ([name, value]) =>
        `${value === '$secret' ? 'the secret' : describeTemplate(value)} among them as ${quote(name)}`,
    ),
    ...(pairEnd === '' ? [] : [`each followed by ${describeTemplate(pairEnd)}`]),
    ...(joinRepeated === null ? [] : [`repeated ones joined by ${quote(joinRepeated)}`]),
    ...Object.entries(params.escape).map(([text, other]) => `${quote(text)} written as ${quote(other)}`),
    ...(encode === 'none' ? [] : [`${encode}-encoded`]),
    ...(params.json === 'none'
      ? []
      : [params.json === 'both' ? 'as JSON strings' : 'values as JSON strings']),
    ...(params.case === 'none' ? [] : [`in ${params.case} case`]),
    ...(nameCase === 'none' ? [] : [`names in ${nameCase} case`]),
    ...(block === 'none' ? [] : [`${block}-encoded as a whole`]),
  ].join(', ');
}

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
