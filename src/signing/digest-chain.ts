import type { Output } from './digests.js';
import { RecipeError } from './recipe-error.js';
import { parseStep, type Step } from './steps.js';
import { tokensOf } from './template.js';
import type { Source } from './tokens.js';

/** What may follow the last digest, which leaves the machine with it: nothing that could hold the secret. */
const openSources: ReadonlySet<Source> = new Set(['method', 'host', 'path', 'url', 'param', 'extra']);

/**
 * Reads the steps that make the signature; `output` decides how the last digest is written.
 *
 * @throws RecipeError for a step that there is not, or that cannot stand where it does
 */
export function compileSteps(texts: readonly string[], output: Output, field = 'steps'): readonly Step[] {
  const steps = parseSteps(texts, field);
  const last = steps.findLastIndex(({ kind }) => kind === 'digest');
  steps.slice(last + 1).forEach((step, index) => {
    checkIsOpen(step, `${field}[${last + 1 + index}]`);
  });
  const written = steps.map((step, index) =>
    index === last && step.kind === 'digest' ? { ...step, format: output } : step,
  );
  checkBytes(written, field);
  return written;
}

/**
 * Reads the steps that make what `$sub` stands for: the last digest is written in its own format.
 *
 * @throws RecipeError for a step that there is not, or that cannot stand where it does
 */
export function compileSubSteps(texts: readonly string[], field = 'sub.steps'): readonly Step[] {
  const steps = parseSteps(texts, field);
  checkBytes(steps, field);
  return steps;
}

function parseSteps(texts: readonly string[], field: string): readonly Step[] {
  const steps = texts.map((text, index) => parseStep(text, `${field}[${index}]`));
  if (steps.some(({ kind }) => kind === 'digest')) return steps;
  throw new RecipeError(field, 'no digest among the steps', 'Add one, such as md5.');
}

function checkIsOpen(step: Step, field: string): void {
  if (!('template' in step)) return;
  const closed = tokensOf(step.template).find(({ source }) => !openSources.has(source));
  if (closed === undefined) return;
  throw new RecipeError(
    field,
    `$${closed.source} after the last digest would leave the machine with the signature`,
    'Digest once more after it, or take $method $host $path $url $param:NAME $extra:NAME.',
  );
}

function checkBytes(steps: readonly Step[], field: string): void {
  let raw = false;
  steps.forEach((step, index) => {
    if (step.kind === 'digest') raw = step.format === 'raw';
    else if (raw && !('template' in step)) {
      throw new RecipeError(`${field}[${index}]`, `${step.kind} takes text, not the raw bytes it is given`);
    }
  });
  if (raw) throw new RecipeError(field, 'the last digest gives raw bytes, not text', 'Write it as :hex.');
}
