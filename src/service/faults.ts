import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Endpoint } from '../core/contract/endpoints.js';
import { type ResultCode, resultCode } from '../core/contract/result-codes.js';
import { type ExclusiveFault, type FaultSettings, sharesOf } from './fault-settings.js';
import type { HttpAnswer, HttpExchange } from './http/exchange.js';
import type { Responder } from './http/responder.js';
import type { Intercept } from './http/routes.js';

/** The treatment of a request besides carrying it out, or instead. */
export interface Fault {
  readonly delayMs?: number | undefined;
  /**
   * Close the connection instead of an answer: `before` the request is carried out, or `after` it.
   */
  readonly cut?: 'before' | 'after' | undefined;
  /** Answers with a result code without carrying it out. */
  readonly code?: ResultCode | undefined;
  /** Answers otherwise without carrying it out. */
  readonly answer?: HttpAnswer | undefined;
}

/** Stands for the answer of a request whose connection is closed before it is carried out. */
const noAnswer: HttpAnswer = { status: 0, type: '', body: '' };

/** Draws the fault of each request; the same seed gives the same faults in the same order. */
export function faultDrawer(settings: FaultSettings): () => Fault {
  const { latencyMs = { min: 0, max: 0 }, seed } = settings;
  const shares = sharesOf(settings);
  let drawn = 0;
  /** At least 0, less than 1. */
  const random = () => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest().readUInt32LE() / 2 ** 32;
  };
  return () => {
    // Both are drawn for every request, so that one setting does not affect the other faults.
    const delayMs = latencyMs.min + random() * (latencyMs.max - latencyMs.min);
    let lot = random();
    for (const { fault, share } of shares) {
      if (lot < share) return { delayMs, ...exclusive[fault] };
      lot -= share;
    }
    return { delayMs };
  };
}

const exclusive: Readonly<Record<ExclusiveFault, Fault>> = {
  error: { code: resultCode.internal },
  reset: { cut: 'before' },
  dropAfterCommit: { cut: 'after' },
};

/**
 * Injects a fault into each request for an operation: the returned function answers a request, or
 * resolves to false where it is to be carried out. `onAnswer` receives how each is answered:
 * `null` if its connection is closed instead.
 */
export function injectFaults(
  responder: Responder,
  faultOf: (endpoint: Endpoint, exchange: HttpExchange) => Fault | Promise<Fault>,
  onAnswer?: (endpoint: Endpoint, exchange: HttpExchange, answer: HttpAnswer | null) => void,
): Intercept {
  return async (endpoint, exchange) => {
    const { request, deliver } = exchange;
    const { delayMs = 0, cut, code, answer } = await faultOf(endpoint, exchange);
    // The server keeps a process alive; a delay of one that is closed does not.
    await wait(delayMs, undefined, { ref: false });
    exchange.deliver = (delivered) => {
      const isLost = cut !== undefined || request.socket.destroyed;
      onAnswer?.(endpoint, exchange, isLost ? null : delivered);
      if (cut === undefined) deliver(delivered);
      else request.socket.destroy();
    };
    exchange.operation = endpoint.operation;
    if (code !== undefined) {
      responder.sendCode(exchange, code);
      return true;
    }
    if (cut !== 'before' && answer === undefined) return false;
    exchange.deliver(answer ?? noAnswer);
    return true;
  };
}
