import { compileSteps } from './digest-chain.js';
import { writtenLength } from './digests.js';
import type { Recipe } from './recipe.js';
import type { Step } from './steps.js';
import type { Template } from './template.js';

/** How many characters a recipe's signature has; null where that depends on the request (§5.4). */
export function digestLength(recipe: Pick<Recipe, 'steps' | 'output'>): number | null {
  return stepsLength(compileSteps(recipe.steps, recipe.output));
}

export function stepsLength(steps: readonly Step[]): number | null {
  return steps.reduce(lengthAfter, null);
}

function lengthAfter(length: number | null, step: Step): number | null {
  switch (step.kind) {
    case 'digest':
      return step.format === 'raw' ? null : writtenLength(step.algorithm, step.format);
    case 'append':
    case 'prepend':
      return plus(length, templateLength(step.template));
    case 'slice':
      return length === null ? null : Math.min(length, step.to) - Math.min(length, step.from);
    default:
      return length;
  }
}

function templateLength(template: Template): number | null {
  return template.map((part) => (typeof part === 'string' ? part.length : null)).reduce(plus, 0);
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
