// Logs by pino, spans of OpenTelemetry, metrics for Prometheus. None of them has secrets or
// personal data.
import { tracingChannel } from 'node:diagnostics_channel';
import { type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { Logger as Pino } from 'pino';
import { Histogram, type Registry } from 'prom-client';
import {
  type CallTrace,
  type ClientHooks,
  UserInfoClient,
  type UserInfoClientOptions,
} from 'userinfo-exchange';

/** Each attempt and its answer as `debug`. */
export const logged = (options: UserInfoClientOptions, log: Pino) =>
  new UserInfoClient({ ...options, logger: log.child({ module: 'userinfo' }) });

/**
 * A span for each call of each client, within the span of its caller. Returns a function that ends
 * this.
 */
export function traceCalls(tracer: Tracer): () => void {
  const spans = new WeakMap<CallTrace, Span>();
  const channel = tracingChannel<unknown, CallTrace>('userinfo:call');
  const subscribers = {
    start(call: CallTrace) {
      const attributes = { 'server.address': new URL(call.baseUrl).hostname };
      spans.set(
        call,
        tracer.startSpan(`userinfo ${call.operation}`, { kind: SpanKind.CLIENT, attributes }),
      );
    },
    error(call: CallTrace) {
      const { code, message } = call.error as Error & { readonly code?: string };
      spans.get(call)?.setAttribute('error.type', code ?? 'unexpected');
      spans.get(call)?.setStatus({ code: SpanStatusCode.ERROR, message });
    },
    asyncEnd(call: CallTrace) {
      const span = spans.get(call);
      if (call.result) span?.setAttribute('userinfo.attempts', call.result.attempts);
      span?.end();
    },
    end() {},
    asyncStart() {},
  };
  channel.subscribe(subscribers);
  return () => channel.unsubscribe(subscribers);
}

/**
 * Seconds of each attempt, by operation and how it ended: a result code, an HTTP status, or why
 * there is no answer.
 */
export function measured(register: Registry): ClientHooks {
  const seconds = new Histogram({
    name: 'userinfo_attempt_seconds',
    help: 'Duration of an attempt',
    labelNames: ['operation', 'end'] as const,
    registers: [register],
  });
  return {
    onResponse: ({ operation, resultCode, httpStatus, durationMs }) =>
      seconds.observe({ operation, end: resultCode ?? httpStatus }, durationMs / 1000),
    onNoAnswer: ({ operation, reason, durationMs }) =>
      seconds.observe({ operation, end: reason }, durationMs / 1000),
  };
}

// new UserInfoClient({ …, ...measured(register) })
