import { quoteName } from '../protocol/text.js';
import type { WireAnswer } from './transport.js';

/**
 * What came back in place of an envelope, in words: an HTML page is named by its title, anything else by its type
 * and size. The body itself may hold a person's data and is not quoted.
 */
export function describeBody(answer: WireAnswer, fault: string): string {
  const parts = [fault];
  if (answer.body.length > 0) {
    const type = answer.contentType.split(';')[0]?.trim() || 'no content type';
    parts.push(`${quoteName(type).slice(1, -1)}, ${answer.body.length} bytes`);
  }
  const title = /<title[^>]*>([^<]{1,200})/i.exec(Buffer.from(answer.body.subarray(0, 4096)).toString())?.[1];
  if (title !== undefined) parts.push(`titled ${quoteName(title.trim())}`);
  if (answer.location !== undefined)
    parts.push(`pointing to ${quoteName(answer.location.split('?')[0] ?? '')}`);
  return parts.join(', ');
}
