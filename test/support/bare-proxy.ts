import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestServer } from './raw-server.js';

/** What a proxy does with a connection: at once, or with each request that arrives on it. */
export interface ProxyTalk {
  readonly onConnection?: (socket: Socket) => void;
  readonly onRequest?: (socket: Socket) => void;
}

/** A proxy of bare bytes that counts what it receives. */
export interface BareProxy extends TestServer {
  readonly host: string;
  readonly connections: number;
  /** The first line of each request. */
  readonly asked: readonly string[];
  /** How many of the requests had a password. */
  readonly passwords: number;
}

export async function bareProxy({ onConnection, onRequest }: ProxyTalk): Promise<BareProxy> {
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  let connections = 0;
  let passwords = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      const [line = ''] = text.split('\r\n');
      if (!/^(?:CONNECT|GET|PUT) /.test(line)) return;
      asked.push(line.replace(/\?\S*/, ''));
      if (/^proxy-authorization:/im.test(text)) passwords += 1;
      onRequest?.(socket);
    });
    onConnection?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://bob:never-to-be-seen@${host}`,
    host,
    get connections() {
      return connections;
    },
    asked,
    get passwords() {
      return passwords;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes the same again and again, for as long as it is taken. */
export function flood(socket: Socket, text: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', write);
  write();
}

/** Writes a text, one byte at a time. */
export function drip(socket: Socket, text: string, everyMs: number): void {
  let offset = 0;
  const timer = setInterval(() => socket.write(text[offset++ % text.length] ?? ''), everyMs);
  socket.on('close', () => clearInterval(timer));
}

const closed = /, which closed the connection without an answer$/;
const notHttp = /, which answered with something that is not HTTP$/;
const late = /, which did not answer within 300 ms$/;
const head302 = 'HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n';
const head502 = 'HTTP/1.1 502 Bad\r\nContent-Length: 9\r\n\r\n<p>bad</p';
const manyHeaders = `HTTP/1.1 200 OK\r\n${`X: ${'a'.repeat(1_000)}\r\n`.repeat(64)}`;
const slowly = 'HTTP/1.1 200 Connection established';

/** What proxies do in place of opening a tunnel, and what the error says of it. */
export const refusals: Readonly<Record<string, readonly [talk: ProxyTalk, said: RegExp]>> = {
  'closes at once': [{ onConnection: (socket) => socket.end() }, closed],
  'resets at once': [{ onConnection: (socket) => socket.resetAndDestroy() }, closed],
  'closes after reading': [{ onRequest: (socket) => socket.end() }, closed],
  'resets after reading': [{ onRequest: (socket) => socket.resetAndDestroy() }, closed],
  'closes after half a status line': [{ onRequest: (socket) => socket.end('HTTP/1.1 20') }, closed],
  'answers 302': [{ onRequest: (socket) => socket.write(head302) }, /, which answered HTTP 302$/],
  'answers 502 with a page': [
    { onRequest: (socket) => socket.write(head502) },
    /, which answered HTTP 502$/,
  ],
  'answers 101': [
    { onRequest: (socket) => socket.write('HTTP/1.1 101 x\r\n\r\n') },
    /, which answered HTTP 101$/,
  ],
  'answers 000': [
    { onRequest: (socket) => socket.write('HTTP/1.1 000 x\r\n\r\n') },
    /, which answered (HTTP 0|with something that is not HTTP)$/,
  ],
  'continues without end': [
    { onRequest: (socket) => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n') },
    /, which (answered HTTP 100|did not answer within 300 ms)$/,
  ],
  'sends headers without end': [{ onRequest: (socket) => flood(socket, manyHeaders) }, notHttp],
  'answers with garbage': [
    { onRequest: (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n') },
    notHttp,
  ],
  'answers 200 and closes': [
    { onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n') },
    /, which opened a tunnel and closed it$/,
  ],
  hangs: [{}, late],
  'sends a byte at a time': [{ onRequest: (socket) => drip(socket, slowly, 50) }, late],
};
