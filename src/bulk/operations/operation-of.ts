import { passbackRows } from './passback-rows.js';
import { readRows } from './read-rows.js';
import type { RowOperation } from './row-operation.js';
import type { RowTask } from './row-task.js';

/** How a task is carried out. */
export function operationOf(task: RowTask): RowOperation {
  return task.operation === 'passback' ? passbackRows(task.naming) : readRows(task.infoNames, task.scope);
}
