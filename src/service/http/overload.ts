import type { IncomingMessage, Server } from 'node:http';

/** Tells the operator that something is more than the service takes. */
export type TellOverload = (problem: string) => void;

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
