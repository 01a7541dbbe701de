import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { resultCodes } from '../../src/core/contract/result-codes.js';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface ExchangeOptions {
  /**
   * Once nothing comes any more for so long, the client ends its side, in milliseconds; never
   * unless given.
   */
  readonly patienceMs?: number;
}

/** A connection of bare bytes to a service. */
export function openSocket(url: string): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  return socket;
}

/** Sends bytes on a connection of its own, and takes the answers until the service closes it. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  { patienceMs }: ExchangeOptions = {},
): Promise<RawAnswer[]> {
  const socket = openSocket(url);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const received: Buffer[] = [];
  const patience = patienceMs === undefined ? null : setTimeout(() => socket.end(), patienceMs);
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk);
    patience?.refresh();
  });
  socket.write(bytes);
  await closed;
  clearTimeout(patience ?? undefined);
  return parseAnswers(Buffer.concat(received));
}

/** The next answer on a connection that is kept; `null` where it is closed before that. */
export function nextAnswer(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    const end = (answer: string | null) => {
      socket.off('data', take).off('close', close);
      resolve(answer);
    };
    const close = () => end(null);
    const take = (chunk: Buffer) => {
      text += chunk.toString();
      const [head, length] = /^.*?content-length: (\d+).*?\r\n\r\n/is.exec(text) ?? [];
      if (head !== undefined && text.length >= head.length + Number(length)) end(text);
    };
    socket.on('data', take).on('close', close);
  });
}

/** The answers that were received, interim ones (1xx) left out. Throws for bytes that are none. */
export function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const headLength = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, Math.max(0, headLength)).toString();
    const [line, status] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? [];
    if (line === undefined)
      throw new Error(`no answer: ${JSON.stringify(rest.toString().slice(0, 200))}`);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    // The answer to a HEAD tells the length of a body that it has not.
    const isBare = rest.length === headLength + 4;
    const end = headLength + 4 + (isBare ? 0 : length);
    if (rest.length < end)
      throw new Error(`a cut answer: ${JSON.stringify(rest.toString().slice(0, 200))}`);
    const body = rest.subarray(headLength + 4, end).toString();
    if (!status?.startsWith('1')) answers.push({ status: Number(status), head, body });
    rest = rest.subarray(end);
  }
  return answers;
}

/**
 * That an answer is an envelope of the table, its head and its HTTP status as they should be. Gives
 * its code.
 */
export function expectAnyEnvelope({ status, head, body }: RawAnswer): number {
  const envelope = JSON.parse(body);
  expect(Object.keys(envelope)).toEqual(['code', 'msg', 'data']);
  expect(resultCodes).toContain(envelope.code);
  expect(status).toBe(Number(String(envelope.code).slice(0, 3)));
  expect(envelope.msg).toMatch(/./);
  expect(envelope.data).toBeTypeOf('object');
  expect(head.toLowerCase()).toContain('content-type: application/json; charset=utf-8');
  expect(head.toLowerCase()).toContain('date: ');
  return envelope.code;
}

/** That an answer is the envelope of a refusal with this code. */
export function expectEnvelope(answer: RawAnswer | undefined, code: number): void {
  expect(answer, `no answer instead of ${code}`).toBeDefined();
  if (answer === undefined) return;
  expect(expectAnyEnvelope(answer)).toBe(code);
  expect(JSON.parse(answer.body).data).toEqual({});
}
