import type { Secret } from '../signing/secret.js';

/** Characters that nobody sees on a screen: zero-width ones, the BOM, the no-break space, controls. */
const unseen = /[\p{Cc}\p{Cf}\u00a0]/u;

/** A text that holds none of them, told without Unicode's tables, which V8 is slow to read. */
const plain = /^[ -~]*$/;

/**
 * What copying and pasting may have brought along with a text. It is used exactly as it is: these are warnings,
 * one sentence each, that begin with `label` and do not repeat the text.
 */
export function copyWarnings(label: string, text: string): string[] {
  const warnings: string[] = [];
  if (text !== text.trimStart()) warnings.push(`${label} begins with white space`);
  if (text !== text.trimEnd()) warnings.push(`${label} ends with white space`);
  const inside = text.trim();
  if (/[\r\n]/.test(inside)) warnings.push(`${label} has more than one line`);
  else if (!plain.test(inside) && unseen.test(inside)) warnings.push(`${label} holds an invisible character`);
  return warnings;
}

/** The same for an app secret: a space copied with it is the commonest cause of a refused signature. */
export function secretWarnings(secret: Secret): string[] {
  return copyWarnings('the app secret', secret.reveal());
}
