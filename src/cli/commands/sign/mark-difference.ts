import type { Difference } from '../../../signing/verify/compare-messages.js';
import { showInvisible } from '../../output/terminal-text.js';

/** Both texts of a difference, with a mark where they part. */
export function markDifference({ ours, theirs, alike }: Difference): { ours: string; theirs: string } {
  const mark = (text: string) => `${showInvisible(text.slice(0, alike))}▶${showInvisible(text.slice(alike))}`;
  return { ours: mark(ours), theirs: mark(theirs) };
}
