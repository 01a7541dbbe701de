/** §8: the length of `random`, in characters. */
export const randomLength = { min: 8, max: 20 } as const;

/** §8: `timestamp` is a Unix time in seconds, written with this many digits. */
export const timestampDigits = 10;

/** §8: the length of `sign` under the default recipe; a recipe of another digest has its own. */
export const signLength = 32;

/** §5.6 leaves the allowed clock difference open: seconds in either direction. */
export const defaultClockWindowSeconds = 300;

/** Maximum clock window in seconds. A used `random` is kept for much longer. */
export const maxClockWindowSeconds = 900;

/** §8 leaves the validity of a `code` open: seconds after its issue. */
export const defaultCodeTtlSeconds = 300;

/** §8 leaves the size of a body open: bytes, enough for a record in percent-encoding. */
export const defaultMaxBodyBytes = 65_536;

/** §8 leaves the number of parameters open: query and form together. */
export const maxParameters = 1000;

/** §8 leaves the size of a user's record open: bytes of its JSON text. */
export const maxRecordBytes = 16_384;

/** §8 leaves the number of values of a user's record open. */
export const maxRecordKeys = 100;

/** §8 leaves the number of keys of a `user_info` open: each changes the index of values. */
export const maxPassbackKeys = 50;

/** Maximum delay of a timer of Node.js, in milliseconds: a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

/**
 * Maximum duration in seconds, 68 years: together with the current time, any number of this size is
 * exact.
 */
export const maxSeconds = 2 ** 31 - 1;
