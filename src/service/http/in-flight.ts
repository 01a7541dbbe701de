import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The open connections of a server, and the requests on them that are not answered yet. */
export class InFlight {
  /** How many connections were taken. */
  accepted = 0;
  /** When each request came, by `#now`. */
  readonly #cameAt = new WeakMap<ServerResponse, number>();
  /** What each open connection still waits for, in the order in which it was asked. */
  readonly #awaited = new Map<Duplex, Set<ServerResponse>>();
  /** The answer to the last request that came on each connection. */
  readonly #latest = new WeakMap<Duplex, ServerResponse>();
  readonly #now: () => number;
  #onAllClosed: (() => void) | null = null;

  /** `now` gives milliseconds that only go forward. */
  constructor(server: Server, now: () => number) {
    this.#now = now;
    server.on('connection', (socket: Socket) => {
      this.accepted += 1;
      this.#awaited.set(socket, new Set());
      socket.once('close', () => {
        this.#awaited.delete(socket);
        if (this.#awaited.size === 0) this.#onAllClosed?.();
      });
    });
    server.on('request', ({ socket }, answer) => {
      const awaited = this.#awaited.get(socket);
      awaited?.add(answer);
      this.#cameAt.set(answer, now());
      this.#latest.set(socket, answer);
      answer.once('close', () => awaited?.delete(answer));
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

  /** Whether a connection can be closed after an answer: its request is whole, and no other came behind it. */
  isLast(answer: ServerResponse): boolean {
    return answer.req.complete && this.#latest.get(answer.req.socket) === answer;
  }

  /** Closes the connections on which nothing ever came. */
  closeUnused(): void {
    for (const socket of this.#awaited.keys()) {
      if ((socket as Socket).bytesRead === 0) socket.destroy();
    }
  }

  /** Resolves once no connection is open. */
  allClosed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#awaited.size === 0) resolve();
      else this.#onAllClosed = resolve;
    });
  }
}
