import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CheckedSettings } from '../settings.js';
import { addressRanges, isAmong, networkOf, plainAddress } from './addresses.js';

/**
 * Maximum time for the first headers of a connection, or for those of a later request, in
 * milliseconds.
 */
const headersMs = 5000;

/** The options of an HTTP server of Node.js for requests that have to arrive within this time. */
export function requestLimits(requestTimeoutMs: number) {
  return {
    requestTimeout: requestTimeoutMs,
    // Counts from the start of a connection: one that sends nothing is closed, too.
    headersTimeout: Math.min(requestTimeoutMs, headersMs),
    connectionsCheckingInterval: Math.min(500, requestTimeoutMs),
    // §4: no request header is required.
    requireHostHeader: false,
  };
}

/**
 * Limits the open connections of a server; further ones are closed. Trusted proxies and this
 * machine may use all of them. `report` receives that the limit is exceeded.
 */
export function limitConnections(
  server: Server,
  { maxConnections, trustProxy = [] }: Pick<CheckedSettings, 'maxConnections' | 'trustProxy'>,
  report: (problem: string) => void,
): void {
  server.maxConnections = maxConnections;
  // Node.js leaves out those beyond 2,000, such as what a proxy adds. Their size is limited.
  server.maxHeadersCount = 0;
  server.on('drop', () =>
    report(`${maxConnections} connections are open; further ones are closed`),
  );
  const proxies = addressRanges(['127.0.0.0/8', '::1', ...trustProxy]);
  const maxOfOne = Math.ceil(maxConnections / 10);
  const openCounts = new Map<string, number>();
  const countOf = (network: string) => openCounts.get(network) ?? 0;
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (isAmong(proxies, address)) return;
    const network = networkOf(address);
    if (countOf(network) >= maxOfOne) {
      socket.destroy();
      report(`${maxOfOne} connections of ${network} are open; further ones are closed`);
      return;
    }
    openCounts.set(network, countOf(network) + 1);
    socket.once('close', () => {
      if (countOf(network) <= 1) openCounts.delete(network);
      else openCounts.set(network, countOf(network) - 1);
    });
  });
}

/**
 * Maximum number of unanswered requests of a connection, besides those that arrived with the last
 * of them: it is read again when there are fewer. So it holds one body, and a part of the next.
 * Node.js itself reads on until answers pile up.
 */
const maxAwaited = 2;

/**
 * Maximum number of unanswered requests of a connection: what arrives at once may hold two thousand
 * of them.
 */
const maxAwaitedOfOne = 256;

/**
 * Maximum number of unanswered requests in all: beyond it, a connection that has more than
 * `maxAwaited` is closed.
 */
const maxAwaitedInAll = 10_000;

/** An open connection. */
interface Connection {
  /** The answers to its unanswered requests, in order. */
  readonly awaited: Set<ServerResponse>;
  /** The answer to its latest request, until both are complete. */
  latest: ServerResponse | null;
}

/** The open connections of a server, and their unanswered requests. */
export class InFlight {
  readonly #report: (problem: string) => void;
  readonly #connections = new Map<Duplex, Connection>();
  #acceptedCount = 0;
  #awaitedInAll = 0;

  /** `report` receives that connections are closed because of their number of requests. */
  constructor(server: Server, report: (problem: string) => void) {
    this.#report = report;
    server.on('connection', (socket: Socket) => this.#open(socket));
    server.on('request', (request, answer) => this.#await(request.socket, answer));
  }

  /** Number of connections that were accepted since the start. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  /** The pending answer of a connection whose request was received completely. */
  awaitedOn(socket: Duplex): ServerResponse | undefined {
    for (const answer of this.#connections.get(socket)?.awaited ?? []) {
      if (answer.req.complete) return answer;
    }
    return undefined;
  }

  /**
   * Whether the bytes that still arrive on a connection belong to an answered request: it was too
   * large.
   */
  isAnswered(socket: Duplex): boolean {
    const latest = this.#connections.get(socket)?.latest;
    return latest?.writableEnded === true && !latest.req.complete;
  }

  /**
   * Whether a connection can be closed after an answer: its request is complete, and no other
   * followed.
   */
  isLast(answer: ServerResponse): boolean {
    return answer.req.complete && this.#connections.get(answer.req.socket)?.latest === answer;
  }

  /** Closes the connections that never received anything. */
  closeUnused(): void {
    for (const socket of this.#connections.keys()) {
      if ((socket as Socket).bytesRead === 0) socket.destroy();
    }
  }

  #open(socket: Socket): void {
    this.#acceptedCount += 1;
    const awaited = new Set<ServerResponse>();
    this.#connections.set(socket, { awaited, latest: null });
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#awaitedInAll -= awaited.size;
      awaited.clear();
    });
    // Node.js resumes after each request.
    socket.on('resume', () => {
      if (awaited.size >= maxAwaited) socket.pause();
    });
  }

  #await(socket: Socket, answer: ServerResponse): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { awaited } = connection;
    awaited.add(answer);
    this.#awaitedInAll += 1;
    if (awaited.size >= maxAwaited) socket.pause();
    if (this.#hasTooMany(connection) && !socket.destroyed) {
      socket.destroy();
      this.#report('too many requests wait; connections that sent many at once are closed');
    }
    connection.latest = answer;
    answer.once('close', () => {
      if (awaited.delete(answer)) this.#awaitedInAll -= 1;
      if (awaited.size === maxAwaited - 1) socket.resume();
      if (connection.latest === answer && answer.req.complete) connection.latest = null;
    });
  }

  #hasTooMany({ awaited }: Connection): boolean {
    if (awaited.size > maxAwaitedOfOne) return true;
    return awaited.size > maxAwaited && this.#awaitedInAll > maxAwaitedInAll;
  }
}
