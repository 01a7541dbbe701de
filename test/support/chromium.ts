import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { WebSocket } from 'undici';
import { printedBy } from './cli.js';

/** Where Debian, and others, put it. */
const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser that is installed; `undefined` where none is. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// It must not ask anybody in the network for anything.
const quiet = ['quic', 'gpu', 'sync', 'background-networking', 'component-update'].map(
  (part) => `--disable-${part}`,
);

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: { readonly result?: { readonly value?: unknown }; readonly data?: string };
  readonly error?: { readonly message: string };
}

/** One page in a headless browser, driven by the DevTools protocol. */
export class BrowserPage implements AsyncDisposable {
  /** What the page's console and its Content-Security-Policy complained of. */
  readonly complaints: string[] = [];
  readonly #browser: ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Message) => void>();
  #calls = 0;

  private constructor(browser: ChildProcess, folder: string, socket: WebSocket) {
    this.#browser = browser;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  static async open(executable: string, url: string): Promise<BrowserPage> {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-chromium-'));
    const own = ['--headless', '--no-sandbox', '--no-first-run', '--hide-scrollbars'];
    const at = [`--user-data-dir=${folder}`, '--remote-debugging-port=0', 'about:blank'];
    const browser = spawn(executable, [...own, ...quiet, ...at], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [, port] = await printedBy(browser, /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//);
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      readonly webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    const page = new BrowserPage(browser, folder, socket);
    for (const domain of ['Log', 'Runtime', 'Page']) await page.call(`${domain}.enable`);
    await page.call('Page.navigate', { url });
    return page;
  }

  /** The value of a JavaScript expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const { result } = await this.call('Runtime.evaluate', { expression, returnByValue: true });
    return result?.result?.value;
  }

  call(method: string, params: object = {}): Promise<Message> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (answer) =>
        answer.error === undefined ? resolve(answer) : reject(new Error(answer.error.message)),
      );
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#browser.once('close', resolve));
    this.#socket.close();
    this.#browser.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #receive(message: Message): void {
    if (message.id !== undefined) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (
      message.method === 'Log.entryAdded' ||
      message.method === 'Runtime.exceptionThrown'
    ) {
      this.complaints.push(JSON.stringify(message.params));
    }
  }
}
