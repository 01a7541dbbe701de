import { Secret } from '../../signing/secret.js';
import type { SolveTask } from '../../signing/solve/space/space.js';

/** A task as it goes to another thread of this process: a `Secret` cannot. */
export interface PackedTask extends Omit<SolveTask, 'secret'> {
  readonly secret: string;
}

export function packTask(task: SolveTask): PackedTask {
  return { ...task, secret: task.secret.reveal() };
}

export function unpackTask(packed: PackedTask): SolveTask {
  return { ...packed, secret: new Secret(packed.secret) };
}
