/** No row is longer, in bytes: past it, a quote that was never closed is likelier than a row. */
export const maxRowBytes = 16 * 1024 * 1024;
