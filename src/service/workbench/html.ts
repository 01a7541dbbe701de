// Markup in which every inserted text is escaped.
import { escapeUnsafe } from '../../core/contract/unsafe-text.js';

/** Safe markup: from `html`, or constant. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[];

/** Markup from a template. Texts that are inserted are escaped. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: String.raw({ raw: template }, ...parts.map(markupOf)) };
}

export const empty: Html = { markup: '' };

function markupOf(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('');
}

function escapeHtml(text: string): string {
  return escapeUnsafe(text.toWellFormed())
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
