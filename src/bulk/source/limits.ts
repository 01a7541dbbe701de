/** No row is longer, in bytes: past it, a quote that was never closed is likelier than a row. */
export const maxRowBytes = 16 * 1024 * 1024;

/** About how much is made into rows at once, in bytes: rows that wait for long cost time when memory is cleared. */
export const batchBytes = 2 * 1024;
