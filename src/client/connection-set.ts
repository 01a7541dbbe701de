import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** A connection of undici, which takes one request after the other. */
interface Connection {
  readonly client: Dispatcher;
  /** How many it has that are not over. */
  requests: number;
}

/**
 * Connections that are used again at once: what is sent while an answer is told takes the connection that it came by.
 * undici need not lay that aside then and fetch it back, with a timer and two turns of the event loop.
 */
export class ConnectionSet implements Pick<Dispatcher, 'dispatch'> {
  readonly #most: number;
  readonly #open: () => Dispatcher;
  readonly #all: Connection[] = [];
  readonly #free: Connection[] = [];
  /** The one whose answer is being told, until it has another request. */
  #answering: Connection | null = null;

  /** `most` is how many there may be; `open` gives one that opens itself. */
  constructor(most: number, open: () => Dispatcher) {
    this.#most = most;
    this.#open = open;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const connection = this.#answering ?? this.#free.pop() ?? this.#another();
    this.#answering = null;
    connection.requests += 1;
    return connection.client.dispatch(options, new Release(handler, connection, this));
  }

  /** A request is over: its connection is the first that is used again. */
  release(connection: Connection, tell: () => void): void {
    connection.requests -= 1;
    if (connection.requests === 0) this.#answering = connection;
    try {
      tell();
    } finally {
      if (this.#answering === connection) this.#free.push(connection);
      this.#answering = null;
    }
  }

  /** Ends all connections, with what is under way on them. */
  async destroy(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.destroy()));
  }

  /** A new one; where there may be no more, the one that has had the least to do. */
  #another(): Connection {
    if (this.#all.length < this.#most) {
      const connection = { client: this.#open(), requests: 0 };
      this.#all.push(connection);
      return connection;
    }
    return this.#all.reduce((least, one) => (one.requests < least.requests ? one : least));
  }
}

/** Hands on what becomes of a request, and its connection when it is over. */
class Release implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #connection: Connection;
  readonly #set: ConnectionSet;

  constructor(handler: Dispatcher.DispatchHandler, connection: Connection, set: ConnectionSet) {
    this.#handler = handler;
    this.#connection = connection;
    this.#set = set;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    httpStatus: number,
    headers: IncomingHttpHeaders,
    statusText?: string,
  ): void {
    this.#handler.onResponseStart?.(controller, httpStatus, headers, statusText);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.#set.release(this.#connection, () => this.#handler.onResponseEnd?.(controller, trailers));
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#set.release(this.#connection, () => this.#handler.onResponseError?.(controller, error));
  }
}
