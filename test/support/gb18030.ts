/** Characters that GB18030 writes as two bytes. */
const twoBytes = new Map<string, Buffer>();

/**
 * Text of ASCII and common Chinese characters in GB18030, which Node decodes but does not encode.
 */
export function encodeGb18030(text: string): Buffer {
  if (twoBytes.size === 0) fill();
  return Buffer.concat(
    [...text].map((character) => twoBytes.get(character) ?? Buffer.from(character, 'latin1')),
  );
}

function fill(): void {
  const decoder = new TextDecoder('gb18030');
  for (let lead = 0x81; lead <= 0xfe; lead += 1) {
    for (let trail = 0x40; trail <= 0xfe; trail += 1) {
      const bytes = Buffer.from([lead, trail]);
      const decoded = decoder.decode(bytes);
      if (trail !== 0x7f && decoded.length === 1) twoBytes.set(decoded, bytes);
    }
  }
}
