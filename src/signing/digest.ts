import { digestBytes, digestText } from './digests.js';
import { folds } from './letter-case.js';
import type { Step } from './steps.js';
import type { Template } from './template.js';

/** What steps take beside the message. */
export interface StepInputs {
  /** The key of hmac steps. */
  key(): Buffer;
  /** The text of an append or prepend step. */
  text(template: Template): string;
}

/** The digest stage: what the steps make of a message. */
export function computeDigest(steps: readonly Step[], message: string, inputs: StepInputs): string {
  let data: string | Buffer = message;
  for (const step of steps) data = runStep(step, data, inputs);
  return data.toString();
}

function runStep(step: Step, data: string | Buffer, inputs: StepInputs): string | Buffer {
  switch (step.kind) {
    case 'digest': {
      const key = step.hmac ? inputs.key() : null;
      return step.format === 'raw'
        ? digestBytes(step.algorithm, data, key)
        : digestText(step.algorithm, data, step.format, key);
    }
    case 'append':
      return concat(data, inputs.text(step.template));
    case 'prepend':
      return concat(inputs.text(step.template), data);
    case 'slice':
      return data.toString().slice(step.from, step.to);
    default:
      return folds[step.kind](data.toString());
  }
}

function concat(a: string | Buffer, b: string | Buffer): string | Buffer {
  return typeof a === 'string' && typeof b === 'string' ? a + b : Buffer.concat([bytes(a), bytes(b)]);
}

function bytes(data: string | Buffer): Buffer {
  return typeof data === 'string' ? Buffer.from(data) : data;
}
