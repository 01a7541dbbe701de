import type { ExplanationPair } from '../../../signing/app-signatures.js';
import type { Explanation } from '../../../signing/signer.js';
import type { Difference } from '../../../signing/verify/compare-messages.js';
import type { CliContext } from '../../context.js';
import { printData } from '../../output/print.js';
import { isPlainTable, type OutputStyle, warn } from '../../output/style.js';
import { showInvisible } from '../../output/terminal-text.js';

/** Prints the stages of one signature or of both, and warns of tokens without a value in the request. */
export async function printExplanation(
  { io }: CliContext,
  explained: Explanation | ExplanationPair,
  style: OutputStyle,
): Promise<void> {
  const pairs = 'digest' in explained ? [explained] : [explained.app_sign, explained.sign];
  for (const token of new Set(pairs.flatMap(({ missing }) => missing))) {
    await warn(io, `the request has no value for ${token}: an empty text is used`);
  }
  const write = isPlainTable(style) ? visibleStages : stagesOf;
  const record =
    'digest' in explained
      ? write(explained)
      : { app_sign: write(explained.app_sign), sign: write(explained.sign) };
  await printData(record, io, style);
}

/** The stages for programs. */
export function stagesOf({ params, message, digest }: Explanation) {
  return { params, message, digest };
}

/** The stages for a person. */
export function visibleStages({ params, message, digest }: Explanation) {
  return { params: showInvisible(params), message: showInvisible(message), digest };
}

/** Both texts, with a mark at the first difference. */
export function markDifference({ ours, theirs, alike }: Difference): { ours: string; theirs: string } {
  const mark = (text: string) => `${showInvisible(text.slice(0, alike))}▶${showInvisible(text.slice(alike))}`;
  return { ours: mark(ours), theirs: mark(theirs) };
}
