import { setFlagsFromString } from 'node:v8';
import type { Answer } from '../client/answer.js';
import { UserInfoClient } from '../client/client.js';
import type { CallOptions } from '../client/options.js';
import type { PlainRequest } from '../client/request.js';
import type { Envelope } from '../protocol/envelope.js';

/** A client for a process that makes one call and ends. */
export class OneCallClient extends UserInfoClient {
  override send(request: PlainRequest, options?: CallOptions): Promise<Answer<Envelope>> {
    return withUnoptimizedWasm(() => super.send(request, options));
  }

  /** Its connections end with the process. */
  override async close(): Promise<void> {}
}

/**
 * To optimise undici's parser takes longer than one call gains by it, and holds up the exit. Only while a call is
 * under way: under other flags than at its start, V8 takes no code from a cache, not even from Node's own.
 */
async function withUnoptimizedWasm<T>(call: () => Promise<T>): Promise<T> {
  setFlagsFromString('--liftoff-only');
  try {
    return await call();
  } finally {
    // The flag, and what it implies.
    for (const flag of ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering'])
      setFlagsFromString(flag);
  }
}
