// Apart from print.ts: only --mask needs it.
import { isPersonalName, maskJson } from '../../protocol/masking.js';

/** For `--mask`: masks personal data in JSON text; all other bytes stay the same. */
export function maskText(json: string): string {
  return maskJson(json, isPersonalName);
}

/** The same for parsed data. */
export async function maskData(data: unknown): Promise<unknown> {
  const [{ stringify }, { parseLoosely }] = await Promise.all([
    import('lossless-json'),
    import('./parsed-json.js'),
  ]);
  return parseLoosely(maskText(stringify(data) ?? 'null'));
}
