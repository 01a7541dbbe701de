/** The `Content-Type` of every envelope. */
export const envelopeType = 'application/json; charset=utf-8';
