// Apart from print.ts: only --mask needs it.
import { isPersonalName, maskJson } from '../../protocol/masking.js';

/** For `--mask`: JSON text with what is about a person masked; all else stays as it was, to the byte. */
export function maskText(json: string): string {
  return maskJson(json, isPersonalName);
}

/** The same for data that is about to be printed. */
export async function maskData(data: unknown): Promise<unknown> {
  const [{ stringify }, { parseLoosely }] = await Promise.all([
    import('lossless-json'),
    import('./parsed-json.js'),
  ]);
  return parseLoosely(maskText(stringify(data) ?? 'null'));
}
