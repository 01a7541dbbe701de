import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** One request that reached the proxy, on its way to the service and back. */
export interface Exchange {
  readonly client: Socket;
  /**
   * Sends the request on to the service and returns the whole of its answer: the service has acted
   * by then.
   */
  forward(): Promise<HttpMessage>;
}

/** What a fault does in place of passing the answer on. */
export type Fault = (exchange: Exchange) => unknown;

/** An HTTP/1.1 message whose body has a Content-Length, or none. */
export interface HttpMessage {
  /** With the empty line at its end. */
  readonly head: string;
  readonly body: Buffer;
}

/**
 * Stands between a client and a service: each request meets the next of `faults`; one that finds
 * none passes.
 */
export class FaultProxy {
  readonly url: string;
  /** To be filled by a test. */
  readonly faults: Fault[] = [];
  /** How many requests the service has answered. */
  forwarded = 0;
  /** How many connections were opened to the proxy. */
  connections = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async before(service: string): Promise<FaultProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new FaultProxy(server);
    server.on('connection', (client) => {
      proxy.connections += 1;
      proxy.#open.add(client);
      client.on('error', () => {}).on('close', () => proxy.#open.delete(client));
      proxy.#serve(client, new URL(service)).catch(() => client.destroy());
    });
    return proxy;
  }

  /** Closes the connections as a service does that has had no request for a while. */
  endConnections(): void {
    for (const client of this.#open) client.end();
  }

  resetConnections(): void {
    for (const client of this.#open) client.resetAndDestroy();
  }

  /** Sends what nobody has asked for. */
  writeToConnections(bytes: Buffer): Promise<unknown> {
    const write = (client: Socket) =>
      new Promise<void>((resolve) => client.write(bytes, () => resolve()));
    return Promise.all([...this.#open].map(write));
  }

  async close(): Promise<void> {
    for (const client of this.#open) client.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(client: Socket, service: URL): Promise<void> {
    for await (const request of messagesOf(client)) {
      const fault = this.faults.shift() ?? passOn;
      await fault({
        client,
        forward: async () => {
          const answer = await exchange(service, request);
          this.forwarded += 1;
          return answer;
        },
      });
    }
  }
}

/** No fault at all. */
export const passOn: Fault = async ({ client, forward }) => {
  client.write(toBytes(await forward()));
};

/** The service acts, and its answer is changed on its way. */
export function changed(change: (answer: HttpMessage) => HttpMessage | string | Buffer): Fault {
  return async ({ client, forward }) => {
    const answer = change(await forward());
    client.write(typeof answer === 'string' || Buffer.isBuffer(answer) ? answer : toBytes(answer));
  };
}

/** The service acts, and its answer is changed on its way; the connection ends with it. */
export function changedAndClosed(change: Parameters<typeof changed>[0]): Fault {
  return async (exchange) => {
    await changed(change)(exchange);
    exchange.client.end();
  };
}

/** The service acts, and its answer comes in pieces of so many bytes, with a pause before each. */
export function dripping(bytes: number, everyMs: number): Fault {
  return async ({ client, forward }) => {
    const answer = toBytes(await forward());
    for (let at = 0; at < answer.length && !client.destroyed; at += bytes) {
      await pause(everyMs);
      client.write(answer.subarray(at, at + bytes));
    }
  };
}

/** The answer is this; the service hears nothing of it. */
export function instead(answer: string | Buffer): Fault {
  return ({ client }) => client.write(answer);
}

/** The same, and the connection ends with it. */
export function insteadAndClosed(answer: string | Buffer): Fault {
  return ({ client }) => client.end(answer);
}

/**
 * An answer that never ends: `head`, then `chunk` for as long as it is taken. Tells how much was.
 */
export function endless(head: string, chunk: string | Buffer): Fault & { written(): number } {
  let socket: Socket | undefined;
  const fault: Fault = ({ client }) => {
    socket = client;
    const write = () => {
      while (!client.destroyed && client.write(chunk));
    };
    client.on('drain', write).write(head);
    write();
  };
  return Object.assign(fault, { written: () => socket?.bytesWritten ?? 0 });
}

/** A well-formed answer with this body. */
export function answerOf(
  body: string | Buffer,
  headers: readonly string[] = [],
  status = '200 OK',
): Buffer {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${bytes.length}`, '', ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n')), bytes]);
}

export function toBytes({ head, body }: HttpMessage): Buffer {
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

async function exchange(service: URL, request: HttpMessage): Promise<HttpMessage> {
  const socket = connect(Number(service.port), service.hostname);
  try {
    socket.write(toBytes(request));
    for await (const answer of messagesOf(socket)) return answer;
    throw new Error('the service closed the connection');
  } finally {
    socket.destroy();
  }
}

async function* messagesOf(socket: Socket): AsyncGenerator<HttpMessage> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received = Buffer.concat([received, chunk]);
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const head = received.subarray(0, end + 4).toString('latin1');
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (received.length < head.length + length) break;
      yield { head, body: received.subarray(head.length, head.length + length) };
      received = received.subarray(head.length + length);
    }
  }
}
