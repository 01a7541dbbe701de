import type { Local } from './vector-code.js';

/** Which variable plays which part in a step: after each step all take the part of the next. */
export function turned(state: readonly Local[], step: number): readonly Local[] {
  const by = step % state.length;
  return [...state.slice(state.length - by), ...state.slice(0, state.length - by)];
}
