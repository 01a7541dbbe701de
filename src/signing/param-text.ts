import { encoders } from './encodings.js';
import { folds } from './letter-case.js';
import type { ParamsRule } from './recipe.js';

/** How a name or a value is written: `escape`, then `encode`, then `case`. */
export function compileParamText(rule: ParamsRule): (text: string) => string {
  const escapeText = compileEscape(rule.escape);
  const encode = encoders[rule.encode];
  const fold = folds[rule.case];
  const asItIs = rule.encode === 'none' && rule.case === 'none' && Object.keys(rule.escape).length === 0;
  return asItIs ? (text) => text : (text) => fold(encode(escapeText(text)));
}

/** Replaces in one pass, the longest text first, so that what was put in is not replaced again. */
function compileEscape(table: ParamsRule['escape']): (text: string) => string {
  const replacements = new Map(Object.entries(table));
  if (replacements.size === 0) return (text) => text;
  const texts = [...replacements.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, (found) => replacements.get(found) ?? found);
}
