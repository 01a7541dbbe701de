/**
 * WebAssembly code over vectors of four 32-bit words, one of each message (the SIMD part of its standard): bytes that
 * leave one vector on the stack, or none for a statement.
 */
export type Code = readonly number[];

/** A local variable of the function, by its number. */
export type Local = number;

/** A number as WebAssembly writes it (LEB128). */
export function unsigned(number: number): number[] {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, ...unsigned(number >>> 7)];
}

function signed(number: number): number[] {
  const isLast = number >= -0x40 && number < 0x40;
  return isLast ? [number & 0x7f] : [(number & 0x7f) | 0x80, ...signed(number >> 7)];
}

/** An instruction of the SIMD part. */
function vector(operation: number): Code {
  return [0xfd, ...unsigned(operation)];
}

function integer(number: number): Code {
  return [0x41, ...signed(number | 0)];
}

/** An operation on two vectors, done to many of them. */
function folded(operation: number): (...terms: readonly [Code, ...Code[]]) => Code {
  return (first, ...rest) => [...first, ...rest.flatMap((term) => [...term, ...vector(operation)])];
}

export const add = folded(0xae);
export const and = folded(0x4e);
export const or = folded(0x50);
export const xor = folded(0x51);

export function not(value: Code): Code {
  return [...value, ...vector(0x4d)];
}

/** The bits of `one` where the mask has ones, of `other` where it has zeros. */
export function choose(mask: Code, one: Code, other: Code): Code {
  return [...one, ...other, ...mask, ...vector(0x52)];
}

export function constant(word: number): Code {
  return [...integer(word), ...vector(0x11)];
}

export function get(local: Local): Code {
  return [0x20, local];
}

export function set(local: Local, value: Code): Code {
  return [...value, 0x21, local];
}

export function shiftRight(value: Code, by: number): Code {
  return [...value, ...integer(by), ...vector(0xad)];
}

/** `scratch` is a local variable that it may overwrite. */
export function rotateLeft(value: Code, by: number, scratch: Local): Code {
  return [
    ...[...value, 0x22, scratch, ...integer(by), ...vector(0xab)],
    ...[...get(scratch), ...integer(32 - by), ...vector(0xad), ...vector(0x50)],
  ];
}

/** The word at `offset` behind each of the four pointers. */
export function gather(pointers: readonly Local[], offset: number): Code {
  const at = [2, ...unsigned(offset)];
  return [
    ...pointers.toReversed().flatMap(get),
    ...[...vector(0x5c), ...at],
    ...pointers.slice(1).flatMap((_, index) => [...vector(0x56), ...at, index + 1]),
  ];
}

/** Each word with its bytes the other way round. */
export function swapBytes(local: Local): Code {
  const order = [0, 4, 8, 12].flatMap((at) => [at + 3, at + 2, at + 1, at]);
  return [...get(local), ...get(local), ...vector(0x0d), ...order];
}

/** The vector that stands `offset` bytes behind a pointer. */
export function load(pointer: Local, offset: number): Code {
  return [...get(pointer), ...vector(0x00), 4, ...unsigned(offset)];
}

export function store(pointer: Local, offset: number, value: Code): Code {
  return [...get(pointer), ...value, ...vector(0x0b), 4, ...unsigned(offset)];
}
