import { type Algorithm, algorithms, type Output } from './digests.js';
import { RecipeError } from './recipe-error.js';
import { parseTemplate, type Template } from './template.js';

/** One step of the digest chain. */
export type Step = DigestStep | AffixStep | TextStep;

export interface DigestStep {
  readonly kind: 'digest';
  readonly algorithm: Algorithm;
  readonly hmac: boolean;
  readonly format: Output | 'raw';
}

/** Puts text after or before what the step before it gave, text or bytes. */
export interface AffixStep {
  readonly kind: 'append' | 'prepend';
  readonly template: Template;
}

/** Changes the text that the step before it gave. */
export type TextStep =
  | { readonly kind: 'upper' | 'lower' }
  | { readonly kind: 'slice'; readonly from: number; readonly to: number };

/** What a digest step can hand to the next one. */
const stepFormats = ['hex', 'HEX', 'raw', 'base64'] as const;

/**
 * Reads `md5`, `hmac-sha1:raw`, `append:$secret`, `prepend:TEXT`, `upper`, `lower` or `slice:FROM:TO`.
 *
 * @throws RecipeError for any other text
 */
export function parseStep(text: string, field: string): Step {
  const step = parseAffix(text, field) ?? parseTextStep(text) ?? parseDigest(text);
  if (step !== null) return step;
  const formats = stepFormats.map((format) => `:${format}`).join(' ');
  throw new RecipeError(
    field,
    `unknown step ${text}`,
    `Steps are ${algorithms.join(' ')}, each also as hmac-… and with ${formats}; append:TEXT, prepend:TEXT, upper, lower, slice:FROM:TO.`,
  );
}

function parseAffix(text: string, field: string): AffixStep | null {
  const [, kind, affix = ''] = /^(append|prepend):(.*)$/s.exec(text) ?? [];
  if (kind !== 'append' && kind !== 'prepend') return null;
  return { kind, template: parseTemplate(affix, field) };
}

function parseTextStep(text: string): TextStep | null {
  if (text === 'upper' || text === 'lower') return { kind: text };
  const [, from, to] = /^slice:(\d+):(\d+)$/.exec(text) ?? [];
  return from === undefined ? null : { kind: 'slice', from: Number(from), to: Number(to) };
}

function parseDigest(text: string): DigestStep | null {
  const [, hmac, name, written = 'hex'] = /^(hmac-)?(\w+)(?::(\w+))?$/.exec(text) ?? [];
  const algorithm = algorithms.find((known) => known === name);
  const format = stepFormats.find((known) => known === written);
  if (algorithm === undefined || format === undefined) return null;
  return { kind: 'digest', algorithm, hmac: hmac !== undefined, format };
}
