import type { PlainRequest } from '../../client/request.js';
import type { SignedRequest } from '../../client/transport.js';

/** What is sent for a row, and what names its user; rows of one user are sent in their order. */
export interface PreparedRow {
  readonly request: PlainRequest;
  readonly user: string | null;
}

/** The same, signed. */
export interface SignedRow {
  readonly request: SignedRequest;
  readonly user: string | null;
}
