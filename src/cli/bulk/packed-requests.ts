import type { PlainRequest } from '../../client/request.js';
import type { SignedRequest } from '../../client/transport.js';
import { type Endpoint, formContentType, ownParameters } from '../../protocol/endpoints.js';

/** Many requests as they go to another thread: one list of texts is what is copied soonest. */
export type Packed = readonly (string | null)[];

/** Packs requests of one operation, and what becomes of them. */
export class Packing {
  readonly #endpoint: Endpoint;
  readonly #names: readonly string[];

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#names = ownParameters(endpoint).map(({ name }) => name);
  }

  /** The values of one request after the other, `null` where it has none. */
  pack(requests: readonly PlainRequest[]): Packed {
    const packed: (string | null)[] = [];
    for (const { parameters } of requests) {
      for (const name of this.#names) packed.push(parameters.get(name) ?? null);
    }
    return packed;
  }

  unpack(packed: Packed): PlainRequest[] {
    const requests: PlainRequest[] = [];
    for (let at = 0; at < packed.length; at += this.#names.length) {
      const parameters = new Map<string, string>();
      for (const [index, name] of this.#names.entries()) {
        const value = packed[at + index] ?? null;
        if (value !== null) parameters.set(name, value);
      }
      requests.push({ endpoint: this.#endpoint, parameters });
    }
    return requests;
  }

  /** Target and body by turns; `null` for the target of what could not be signed. */
  packSigned(requests: readonly (SignedRequest | null)[]): Packed {
    return requests.flatMap((request) => [request?.target ?? null, request?.body ?? null]);
  }

  unpackSigned(packed: Packed): (SignedRequest | null)[] {
    const { method } = this.#endpoint;
    const requests: (SignedRequest | null)[] = [];
    for (let at = 0; at < packed.length; at += 2) {
      const target = packed[at] ?? null;
      const body = packed[at + 1] ?? null;
      const contentType = body === null ? null : formContentType;
      requests.push(target === null ? null : { method, target, contentType, body });
    }
    return requests;
  }
}
