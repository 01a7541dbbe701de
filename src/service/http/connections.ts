import type { IncomingMessage, Server, ServerResponse } from 'node:http';
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

/** Tells the operator that something is more than the service takes. */
type TellOverload = (problem: string) => void;

/** Closes at once what comes past so many open connections. */
export function limitConnections(server: Server, max: number, tell: TellOverload): void {
  server.maxConnections = max;
  server.on('drop', () => tell(`${max} connections are open, more are closed at once`));
}

/** So many bodies of the largest size are held while they arrive. */
const largeBodies = 64;

/**
 * The bodies that are held while they arrive. Past a sum, the largest of them is given up with its connection: small
 * ones still get through beside those that somebody lets pile up.
 */
export class ArrivingBodies {
  readonly #maxBodyBytes: number;
  readonly #tell: TellOverload;
  readonly #held = new Map<IncomingMessage, number>();
  #sum = 0;

  constructor(maxBodyBytes: number, tell: TellOverload) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#tell = tell;
  }

  /** Counts what arrives of a request from now on. */
  count(request: IncomingMessage): void {
    let held = 0;
    const add = (chunk: Uint8Array) => {
      held += chunk.length;
      // What is too large is refused, and not held.
      if (held > this.#maxBodyBytes) forget();
      else this.#set(request, held);
      if (this.#sum > this.#maxBodyBytes * largeBodies) this.#giveUpLargest();
    };
    const forget = () => {
      request.off('data', add);
      this.#set(request, 0);
    };
    request.on('data', add).once('close', forget);
  }

  #giveUpLargest(): void {
    const [largest] = [...this.#held].reduce((one, other) => (other[1] > one[1] ? other : one));
    this.#set(largest, 0);
    largest.destroy();
    this.#tell('too many large bodies arrive at once, the largest are given up');
  }

  #set(request: IncomingMessage, bytes: number): void {
    this.#sum += bytes - (this.#held.get(request) ?? 0);
    if (bytes === 0) this.#held.delete(request);
    else this.#held.set(request, bytes);
  }
}
