import { type ServerProcess, startServerScript } from '../service/bare-server.js';

/** As little as can be done for a request: its end is found, and its user named in the answer. */
const script = `
  const { createServer } = await import('node:net');
  const head = 'HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: ';
  const before = '{"code":200,"msg":"ok","data":{"union_id":"';
  const after = '"}}';
  const user = /(?:^|&)union_id=([^&]*)/;
  const length = /\\r\\ncontent-length: (\\d+)/i;
  const server = createServer((socket) => {
    let text = '';
    socket.setNoDelay(true).on('error', () => {}).on('data', (chunk) => {
      text += chunk.latin1Slice();
      for (let end; (end = text.indexOf('\\r\\n\\r\\n')) >= 0; ) {
        const size = end + 4 + Number(length.exec(text)?.[1] ?? 0);
        if (text.length < size) return;
        const body = before + (user.exec(text.slice(end + 4, size))?.[1] ?? 'u1') + after;
        text = text.slice(size);
        socket.write(head + body.length + '\\r\\n\\r\\n' + body);
      }
    });
  });
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

/**
 * A server in a process of its own that says yes to everything, so cheaply that the client is what
 * is measured.
 */
export function startTrivialServer(): Promise<ServerProcess> {
  return startServerScript(script);
}
