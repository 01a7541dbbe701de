import {
  type Algorithm,
  algorithms,
  digestBytes,
  digestText,
  type Output,
  writtenLength,
} from './digest-algorithms.js';
import { type KeyDecoding, RecipeError } from './recipe.js';
import { stepTexts } from './recipe-language.js';
import { parseTemplate, type Template, type Token } from './template.js';

/** A step of a signature. */
export type Step = DigestStep | AffixStep | SliceStep;

/** Digests the result of the step before, text or bytes. */
export interface DigestStep {
  readonly kind: 'digest';
  readonly algorithm: Algorithm;
  readonly hmac: boolean;
  readonly format: Output | 'raw';
}

/** Appends or prepends text to the result of the step before, text or bytes. */
interface AffixStep {
  readonly kind: 'append' | 'prepend';
  readonly template: Template;
}

/** Cuts the text of the digest before. */
interface SliceStep {
  readonly kind: 'slice';
  readonly from: number;
  readonly to: number;
}

/** A text that is digested: the message, its steps, and the key of these. */
export interface KeyedMessage {
  readonly message: Template;
  readonly steps: readonly Step[];
  readonly key: Template;
  readonly decode: KeyDecoding;
  /** Every token of the message, of the steps, and of the key where a step takes it. */
  readonly tokens: readonly Token[];
}

/** A keyed message, with the tokens that it needs. */
export function keyedMessage(parts: Omit<KeyedMessage, 'tokens'>): KeyedMessage {
  const { message, steps, key } = parts;
  const tokens = [...message.tokens];
  for (const step of steps) if ('template' in step) tokens.push(...step.template.tokens);
  const usesKey = steps.some((step) => step.kind === 'digest' && step.hmac);
  if (usesKey) tokens.push(...key.tokens);
  return { ...parts, tokens };
}

/** The inputs of the steps besides the message. */
export interface StepInputs {
  /** The key of HMAC steps. */
  key(): Buffer;
  /** The text of an append or prepend step. */
  text(template: Template): string;
}

/** The digest stage: applies the steps to a message. */
export function computeDigest(
  steps: readonly Step[],
  message: string | Buffer,
  inputs: StepInputs,
): string {
  let data = message;
  for (const step of steps) data = runStep(step, data, inputs);
  return data.toString();
}

function runStep(step: Step, data: string | Buffer, inputs: StepInputs): string | Buffer {
  switch (step.kind) {
    case 'digest': {
      const key = step.hmac ? inputs.key() : null;
      if (step.format === 'raw') return digestBytes(step.algorithm, data, key);
      return digestText(step.algorithm, data, step.format, key);
    }
    case 'append':
      return concat(data, inputs.text(step.template));
    case 'prepend':
      return concat(inputs.text(step.template), data);
    case 'slice':
      return data.toString().slice(step.from, step.to);
  }
}

function concat(a: string | Buffer, b: string | Buffer): string | Buffer {
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  return Buffer.concat([bytes(a), bytes(b)]);
}

function bytes(data: string | Buffer): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return data;
}

/**
 * Parses the steps of a signature, whose last digest is written as `output`. A signature without
 * steps is its message: a text that the operator issued.
 *
 * @throws RecipeError for an unknown step, or one in the wrong place
 */
export function compileSteps(
  texts: readonly string[],
  output: Output,
  field = 'steps',
): readonly Step[] {
  const steps = texts.map((text, index) => parseStep(text, `${field}[${index}]`));
  const last = steps.findLastIndex(({ kind }) => kind === 'digest');
  const affix = steps.findLastIndex(({ kind }) => kind === 'append' || kind === 'prepend');
  if (affix > last)
    throw new RecipeError(
      `${field}[${affix}]`,
      'has no digest after it: its text would leave the machine with the signature',
      'Digest once more after it.',
    );
  const digest = steps[last];
  if (digest?.kind === 'digest') steps[last] = { ...digest, format: output };
  checkInputs(steps, field);
  return steps;
}

/** What a step takes: a text, the text of a digest, or the bytes of one. */
type StepInput = 'text' | 'digest' | 'raw';

/**
 * Checks what each step takes: a part of a digest gives nothing away, and is ASCII.
 *
 * @throws RecipeError for a slice of anything else, and for a signature of raw bytes
 */
function checkInputs(steps: readonly Step[], field: string): void {
  let input: StepInput = 'text';
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'slice') checkSlice(input, `${field}[${index}]`);
    input = resultOf(step, input);
  }
  if (input === 'raw')
    throw new RecipeError(field, 'the last digest gives raw bytes, not text', 'Write it as :hex.');
}

function checkSlice(input: StepInput, field: string): void {
  if (input === 'raw')
    throw new RecipeError(field, 'slice takes text, not the raw bytes it is given');
  if (input === 'digest') return;
  throw new RecipeError(
    field,
    'slice takes a digest, and nothing else',
    'A digest of a part of the secret gives that part away: digest the whole text first.',
  );
}

/** What the step after this one takes. */
function resultOf(step: Step, input: StepInput): StepInput {
  switch (step.kind) {
    case 'digest':
      return step.format === 'raw' ? 'raw' : 'digest';
    case 'append':
    case 'prepend':
      return input === 'raw' ? 'raw' : 'text';
    case 'slice':
      return input;
  }
}

/** The length of a signature in characters; null where it depends on the request (§5.4). */
export function stepsLength(message: Template | null, steps: readonly Step[]): number | null {
  return steps.reduce(lengthAfter, message && templateLength(message));
}

function lengthAfter(length: number | null, step: Step): number | null {
  switch (step.kind) {
    case 'digest':
      if (step.format === 'raw') return null;
      return writtenLength(step.algorithm, step.format);
    case 'append':
    case 'prepend':
      return plus(length, templateLength(step.template));
    case 'slice':
      if (length === null) return null;
      return Math.max(0, Math.min(length, step.to) - step.from);
  }
}

function templateLength(template: Template): number | null {
  let length = 0;
  for (const part of template.parts) {
    if (typeof part !== 'string') return null;
    length += part.length;
  }
  return length;
}

function plus(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return null;
  return a + b;
}

/** Formats of a digest that is the input of another step. */
const stepFormats = ['hex', 'HEX', 'raw', 'base64'] as const;

/**
 * Parses a digest such as `md5` or `hmac-sha1:raw`, or a step of `stepTexts`.
 *
 * @throws RecipeError for any other text
 */
function parseStep(text: string, field: string): Step {
  const step = parseAffix(text, field) ?? parseSlice(text) ?? parseDigest(text);
  if (step !== null) return step;
  const formats = stepFormats.map((format) => `:${format}`).join(' ');
  const digests = `${algorithms.join(' ')}, each also as hmac-… and with ${formats}`;
  const others = Object.values(stepTexts).map(({ form }) => form);
  const hint = `Steps are ${digests}; ${others.join(', ')}.`;
  throw new RecipeError(field, `unknown step ${text}`, hint);
}

function parseAffix(text: string, field: string): AffixStep | null {
  const [, kind, affix = ''] = /^(append|prepend):(.*)$/s.exec(text) ?? [];
  if (kind !== 'append' && kind !== 'prepend') return null;
  return { kind, template: parseTemplate(affix, field) };
}

function parseSlice(text: string): SliceStep | null {
  const [, from, to] = /^slice:(\d{1,6}):(\d{1,6})$/.exec(text) ?? [];
  if (from === undefined) return null;
  return { kind: 'slice', from: Number(from), to: Number(to) };
}

/** A digest such as `md5` or `hmac-sha1:raw`; null for any other text. */
export function parseDigest(text: string): DigestStep | null {
  const { name, written = 'hex' } =
    /^(?<name>[^:]*)(?::(?<written>.*))?$/s.exec(text)?.groups ?? {};
  const algorithm = algorithms.find((plain) => name === plain || name === `hmac-${plain}`);
  const format = stepFormats.find((stepFormat) => stepFormat === written);
  if (algorithm === undefined || format === undefined) return null;
  return { kind: 'digest', algorithm, hmac: name !== algorithm, format };
}

/** A last character on its own would be left out of the key. */
const base64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2,3})?={0,2}$/;
const keyPatterns: Readonly<Record<KeyDecoding, RegExp>> = {
  utf8: /^/,
  hex: /^(?:[\da-f]{2})*$/i,
  base64,
};

/**
 * The bytes of an HMAC key.
 *
 * @throws RecipeError where the text is not in that encoding; the message does not contain the text
 */
export function decodeKey(text: string, decode: KeyDecoding): Buffer {
  if (keyPatterns[decode].test(text)) return Buffer.from(text, decode);
  throw new RecipeError(
    'key.decode',
    `the key is not ${decode}`,
    'Check the secret, or set key.decode to what it is: utf8 for plain text.',
  );
}
