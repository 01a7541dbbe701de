/** How many bytes are taken in at once. */
export const blockBytes = 64;

/**
 * Takes the block at `at` into the four words of a state (RFC 1321, 3.4). The 64 rounds are written out: looped over
 * tables, they take a third longer, and this is what a search does most.
 */
export function compress(state: Int32Array, view: DataView, at: number): void {
  const w0 = view.getInt32(at + 0, true);
  const w1 = view.getInt32(at + 4, true);
  const w2 = view.getInt32(at + 8, true);
  const w3 = view.getInt32(at + 12, true);
  const w4 = view.getInt32(at + 16, true);
  const w5 = view.getInt32(at + 20, true);
  const w6 = view.getInt32(at + 24, true);
  const w7 = view.getInt32(at + 28, true);
  const w8 = view.getInt32(at + 32, true);
  const w9 = view.getInt32(at + 36, true);
  const w10 = view.getInt32(at + 40, true);
  const w11 = view.getInt32(at + 44, true);
  const w12 = view.getInt32(at + 48, true);
  const w13 = view.getInt32(at + 52, true);
  const w14 = view.getInt32(at + 56, true);
  const w15 = view.getInt32(at + 60, true);
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;

  a = (b + rotate(a + (d ^ (b & (c ^ d))) + w0 + 0xd76aa478, 7)) | 0;
  d = (a + rotate(d + (c ^ (a & (b ^ c))) + w1 + 0xe8c7b756, 12)) | 0;
  c = (d + rotate(c + (b ^ (d & (a ^ b))) + w2 + 0x242070db, 17)) | 0;
  b = (c + rotate(b + (a ^ (c & (d ^ a))) + w3 + 0xc1bdceee, 22)) | 0;
  a = (b + rotate(a + (d ^ (b & (c ^ d))) + w4 + 0xf57c0faf, 7)) | 0;
  d = (a + rotate(d + (c ^ (a & (b ^ c))) + w5 + 0x4787c62a, 12)) | 0;
  c = (d + rotate(c + (b ^ (d & (a ^ b))) + w6 + 0xa8304613, 17)) | 0;
  b = (c + rotate(b + (a ^ (c & (d ^ a))) + w7 + 0xfd469501, 22)) | 0;
  a = (b + rotate(a + (d ^ (b & (c ^ d))) + w8 + 0x698098d8, 7)) | 0;
  d = (a + rotate(d + (c ^ (a & (b ^ c))) + w9 + 0x8b44f7af, 12)) | 0;
  c = (d + rotate(c + (b ^ (d & (a ^ b))) + w10 + 0xffff5bb1, 17)) | 0;
  b = (c + rotate(b + (a ^ (c & (d ^ a))) + w11 + 0x895cd7be, 22)) | 0;
  a = (b + rotate(a + (d ^ (b & (c ^ d))) + w12 + 0x6b901122, 7)) | 0;
  d = (a + rotate(d + (c ^ (a & (b ^ c))) + w13 + 0xfd987193, 12)) | 0;
  c = (d + rotate(c + (b ^ (d & (a ^ b))) + w14 + 0xa679438e, 17)) | 0;
  b = (c + rotate(b + (a ^ (c & (d ^ a))) + w15 + 0x49b40821, 22)) | 0;

  a = (b + rotate(a + (c ^ (d & (b ^ c))) + w1 + 0xf61e2562, 5)) | 0;
  d = (a + rotate(d + (b ^ (c & (a ^ b))) + w6 + 0xc040b340, 9)) | 0;
  c = (d + rotate(c + (a ^ (b & (d ^ a))) + w11 + 0x265e5a51, 14)) | 0;
  b = (c + rotate(b + (d ^ (a & (c ^ d))) + w0 + 0xe9b6c7aa, 20)) | 0;
  a = (b + rotate(a + (c ^ (d & (b ^ c))) + w5 + 0xd62f105d, 5)) | 0;
  d = (a + rotate(d + (b ^ (c & (a ^ b))) + w10 + 0x02441453, 9)) | 0;
  c = (d + rotate(c + (a ^ (b & (d ^ a))) + w15 + 0xd8a1e681, 14)) | 0;
  b = (c + rotate(b + (d ^ (a & (c ^ d))) + w4 + 0xe7d3fbc8, 20)) | 0;
  a = (b + rotate(a + (c ^ (d & (b ^ c))) + w9 + 0x21e1cde6, 5)) | 0;
  d = (a + rotate(d + (b ^ (c & (a ^ b))) + w14 + 0xc33707d6, 9)) | 0;
  c = (d + rotate(c + (a ^ (b & (d ^ a))) + w3 + 0xf4d50d87, 14)) | 0;
  b = (c + rotate(b + (d ^ (a & (c ^ d))) + w8 + 0x455a14ed, 20)) | 0;
  a = (b + rotate(a + (c ^ (d & (b ^ c))) + w13 + 0xa9e3e905, 5)) | 0;
  d = (a + rotate(d + (b ^ (c & (a ^ b))) + w2 + 0xfcefa3f8, 9)) | 0;
  c = (d + rotate(c + (a ^ (b & (d ^ a))) + w7 + 0x676f02d9, 14)) | 0;
  b = (c + rotate(b + (d ^ (a & (c ^ d))) + w12 + 0x8d2a4c8a, 20)) | 0;

  a = (b + rotate(a + (b ^ c ^ d) + w5 + 0xfffa3942, 4)) | 0;
  d = (a + rotate(d + (a ^ b ^ c) + w8 + 0x8771f681, 11)) | 0;
  c = (d + rotate(c + (d ^ a ^ b) + w11 + 0x6d9d6122, 16)) | 0;
  b = (c + rotate(b + (c ^ d ^ a) + w14 + 0xfde5380c, 23)) | 0;
  a = (b + rotate(a + (b ^ c ^ d) + w1 + 0xa4beea44, 4)) | 0;
  d = (a + rotate(d + (a ^ b ^ c) + w4 + 0x4bdecfa9, 11)) | 0;
  c = (d + rotate(c + (d ^ a ^ b) + w7 + 0xf6bb4b60, 16)) | 0;
  b = (c + rotate(b + (c ^ d ^ a) + w10 + 0xbebfbc70, 23)) | 0;
  a = (b + rotate(a + (b ^ c ^ d) + w13 + 0x289b7ec6, 4)) | 0;
  d = (a + rotate(d + (a ^ b ^ c) + w0 + 0xeaa127fa, 11)) | 0;
  c = (d + rotate(c + (d ^ a ^ b) + w3 + 0xd4ef3085, 16)) | 0;
  b = (c + rotate(b + (c ^ d ^ a) + w6 + 0x04881d05, 23)) | 0;
  a = (b + rotate(a + (b ^ c ^ d) + w9 + 0xd9d4d039, 4)) | 0;
  d = (a + rotate(d + (a ^ b ^ c) + w12 + 0xe6db99e5, 11)) | 0;
  c = (d + rotate(c + (d ^ a ^ b) + w15 + 0x1fa27cf8, 16)) | 0;
  b = (c + rotate(b + (c ^ d ^ a) + w2 + 0xc4ac5665, 23)) | 0;

  a = (b + rotate(a + (c ^ (b | ~d)) + w0 + 0xf4292244, 6)) | 0;
  d = (a + rotate(d + (b ^ (a | ~c)) + w7 + 0x432aff97, 10)) | 0;
  c = (d + rotate(c + (a ^ (d | ~b)) + w14 + 0xab9423a7, 15)) | 0;
  b = (c + rotate(b + (d ^ (c | ~a)) + w5 + 0xfc93a039, 21)) | 0;
  a = (b + rotate(a + (c ^ (b | ~d)) + w12 + 0x655b59c3, 6)) | 0;
  d = (a + rotate(d + (b ^ (a | ~c)) + w3 + 0x8f0ccc92, 10)) | 0;
  c = (d + rotate(c + (a ^ (d | ~b)) + w10 + 0xffeff47d, 15)) | 0;
  b = (c + rotate(b + (d ^ (c | ~a)) + w1 + 0x85845dd1, 21)) | 0;
  a = (b + rotate(a + (c ^ (b | ~d)) + w8 + 0x6fa87e4f, 6)) | 0;
  d = (a + rotate(d + (b ^ (a | ~c)) + w15 + 0xfe2ce6e0, 10)) | 0;
  c = (d + rotate(c + (a ^ (d | ~b)) + w6 + 0xa3014314, 15)) | 0;
  b = (c + rotate(b + (d ^ (c | ~a)) + w13 + 0x4e0811a1, 21)) | 0;
  a = (b + rotate(a + (c ^ (b | ~d)) + w4 + 0xf7537e82, 6)) | 0;
  d = (a + rotate(d + (b ^ (a | ~c)) + w11 + 0xbd3af235, 10)) | 0;
  c = (d + rotate(c + (a ^ (d | ~b)) + w2 + 0x2ad7d2bb, 15)) | 0;
  b = (c + rotate(b + (d ^ (c | ~a)) + w9 + 0xeb86d391, 21)) | 0;

  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
