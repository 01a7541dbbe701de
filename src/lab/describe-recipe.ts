import { algorithmTitles } from '../core/signing/digest-algorithms.js';
import { compileSteps, type DigestStep, type Step } from '../core/signing/digest-steps.js';
import type { ParamsRule, Recipe } from '../core/signing/recipe.js';
import { stepTexts } from '../core/signing/recipe-language.js';
import {
  parseTemplate,
  parseTemplates,
  type Template,
  type Token,
} from '../core/signing/template.js';
import { orderWords } from './verify/recipe-suspects.js';

/**
 * A recipe in words, on one line:
 * `MD5 of parameters + "&key=" + secret; parameters: k=v joined by "&", …`.
 */
export function describeRecipe({ params, message, join, steps, output, key }: Recipe): string {
  // In hex, because the words of `output` follow.
  const compiled = compileSteps(steps, 'hex');
  const usesBlock = parseTemplates(message, 'message').tokens.some(
    ({ source }) => source === 'params',
  );
  const isKeyed = compiled.some((step) => step.kind === 'digest' && step.hmac);
  const keyText = describeKey(key);
  const clauses = [describeSteps(compiled, describeEntries(message, join)) + outputWords[output]];
  if (isKeyed && keyText !== 'secret') clauses.push(`key: ${keyText}`);
  if (usesBlock) clauses.push(`parameters: ${describeParams(params)}`);
  return clauses.join('; ');
}

function describeKey({ tokens, decode }: Recipe['key']): string {
  return describeEntries(tokens) + (decode === 'utf8' ? '' : `, decoded from ${decode}`);
}

const outputWords: Readonly<Record<Recipe['output'], string>> = {
  hex: '',
  HEX: ', in upper-case hex',
  base64: ', in base64',
  base64url: ', in base64url',
};

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

function describeToken(token: Token): string {
  return token.modifiers.reduce((text, modifier) => `${modifier}(${text})`, describeSource(token));
}

function describeSource({ source, name }: Token): string {
  if (source === 'params') return 'parameters';
  if (source === 'param') return name;
  return `${source} ${name}`.trimEnd();
}

function describeSteps(steps: readonly Step[], message: string): string {
  return steps.reduce(describeStep, message);
}

function describeStep(text: string, step: Step): string {
  switch (step.kind) {
    case 'digest':
      return `${digestWords(step)} of ${text}`;
    case 'append':
    case 'prepend':
      return stepTexts[step.kind].words(text, describeTemplate(step.template));
    case 'slice':
      return stepTexts.slice.words(text, `${step.from} to ${step.to}`);
  }
}

function digestWords({ algorithm, hmac, format }: DigestStep): string {
  const name = (hmac ? 'HMAC-' : '') + algorithmTitles[algorithm];
  return format === 'hex' ? name : `${name} (${format})`;
}

function describeParams(params: ParamsRule): string {
  const { from, exclude, include, order, empty, encode, nameCase, add } = params;
  const words = [describeShape(params)];
  if (from !== 'both') words.push(sourceWords[from]);
  words.push(typeof order === 'string' ? orderWords[order] : `in the order ${order.join(', ')}`);
  if (include !== null) words.push(`only ${include.join(', ')}`);
  if (exclude.length > 0) words.push(`without ${exclude.join(', ')}`);
  if (empty === 'drop') words.push('empty values left out');
  for (const [name, value] of Object.entries(add)) {
    const what = value === '$secret' ? 'the secret' : describeEntries([value]);
    words.push(`${what} among them as ${quote(name)}`);
  }
  if (encode !== 'none') words.push(`${encode}-encoded`);
  if (nameCase !== 'none') words.push(`names in ${nameCase} case`);
  return words.join(', ');
}

const sourceWords: Readonly<Record<Exclude<ParamsRule['from'], 'both'>, string>> = {
  query: 'of the query only',
  form: 'of the form only',
  'form-or-query': 'of the form of a passback, of the query of a read',
};

function describeShape({ names, kvSep, pairSep }: ParamsRule): string {
  const withNames = kvSep === '' ? 'names and values' : `k${kvSep}v`;
  const pair = names ? withNames : 'values alone';
  return pairSep === '' ? `${pair} glued together` : `${pair} joined by ${quote(pairSep)}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
