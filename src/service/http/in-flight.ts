import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The requests of a server that are not answered yet. */
export class InFlight {
  /** When each came, by `#now`. */
  readonly #cameAt = new Map<ServerResponse, number>();
  /** What each connection still waits for, in the order in which it was asked. */
  readonly #awaited = new WeakMap<Duplex, Set<ServerResponse>>();
  /** The answer to the last request that came on each connection. */
  readonly #latest = new WeakMap<Duplex, ServerResponse>();
  readonly #now: () => number;
  #onIdle: (() => void) | null = null;

  /** `now` gives milliseconds that only go forward. */
  constructor(server: Server, now: () => number) {
    this.#now = now;
    server.on('request', ({ socket }, answer) => {
      const awaited = this.#awaitedOn(socket);
      awaited.add(answer);
      this.#cameAt.set(answer, now());
      this.#latest.set(socket, answer);
      answer.once('close', () => {
        awaited.delete(answer);
        this.#end([answer]);
      });
    });
  }

  /** For how long an answer has been awaited, in whole milliseconds. */
  ageOf(answer: ServerResponse): number {
    const now = this.#now();
    return Math.round(now - (this.#cameAt.get(answer) ?? now));
  }

  /** The answer that a connection waits for, its request received whole. */
  awaitedOn(socket: Duplex): ServerResponse | undefined {
    return [...(this.#awaited.get(socket) ?? [])].find((answer) => answer.req.complete);
  }

  /** Whether what still arrives on a connection belongs to a request that is answered already: it was too large. */
  isAnswered(socket: Duplex): boolean {
    const latest = this.#latest.get(socket);
    return latest?.writableEnded === true && !latest.req.complete;
  }

  /** Resolves once every request is answered, or broken off. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#cameAt.size === 0) resolve();
      else this.#onIdle = resolve;
    });
  }

  #awaitedOn(socket: Duplex): Set<ServerResponse> {
    const known = this.#awaited.get(socket);
    if (known !== undefined) return known;
    const awaited = new Set<ServerResponse>();
    this.#awaited.set(socket, awaited);
    // An answer that waits behind another one on its connection is never told that the connection is gone.
    socket.once('close', () => this.#end(awaited));
    return awaited;
  }

  #end(answers: Iterable<ServerResponse>): void {
    for (const answer of answers) this.#cameAt.delete(answer);
    if (this.#cameAt.size === 0) this.#onIdle?.();
  }
}
