import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';

export interface TestServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A request as it was received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/**
 * The body of the answer to a passback that was carried out: it names the user of the request, or
 * `u1`.
 */
export function writtenBy({ body }: Pick<ReceivedRequest, 'body'>): string {
  const union_id = new URLSearchParams(body).get('union_id') ?? 'u1';
  return JSON.stringify({ code: 200, msg: 'ok', data: { union_id } });
}

/**
 * An HTTP server on a loopback port, a free one unless given, that keeps what it is sent, and
 * answers as `answer` says.
 */
export async function httpServer(
  answer: (request: ReceivedRequest, response: ServerResponse, count: number) => void,
  port = 0,
): Promise<TestServer & { readonly requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createHttpServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const [path = '', query = ''] = (message.url ?? '').split('?');
    const { method = '', headers } = message;
    const request = { method, path, query, headers, body: Buffer.concat(chunks).toString() };
    requests.push(request);
    answer(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server of bare bytes: `talk` gets each connection, and the first bytes that it sent. */
export async function tcpServer(talk: (socket: Socket, sent: Buffer) => void): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (sent) => talk(socket, sent));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
