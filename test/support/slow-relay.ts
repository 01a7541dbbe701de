import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Stands before a server, such as a database, and passes each packet on as late as a test says. */
export class SlowRelay {
  /** In milliseconds. */
  delayMs = 0;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#serve(client));

  private constructor(target: URL) {
    this.#target = target;
  }

  static async before(url: string): Promise<SlowRelay> {
    const relay = new SlowRelay(new URL(url));
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  /** The URL of the server, by way of the relay. */
  get url(): string {
    const url = new URL(this.#target);
    url.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return url.href;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => {}).on('close', () => this.#sockets.delete(from));
      void this.#pass(from, to).catch(() => to.destroy());
    }
  }

  async #pass(from: Socket, to: Socket): Promise<void> {
    for await (const packet of from) {
      const since = performance.now();
      // The delay may be changed meanwhile.
      while (performance.now() - since < this.delayMs) await wait(5);
      to.write(packet);
    }
    to.end();
  }
}
