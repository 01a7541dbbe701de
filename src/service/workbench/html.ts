import { escapeUnsafe } from '../../support/unsafe-characters.js';

/** Markup that is safe to send: made by `html`, or written by us. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[];

/** Markup from a template. Every text that is put into it shows as it is, and can do nothing else. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: String.raw({ raw: template }, ...parts.map(markupOf)) };
}

/** Nothing. */
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
