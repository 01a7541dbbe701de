import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type xterm from '@xterm/headless';
import { completeRecipe } from '../../src/core/signing/recipe.js';
import { UserInfoClient } from '../../src/index.js';
import { createService } from '../../src/service/index.js';
import { createSchema } from '../support/postgres/test-schema.js';
import { firstUser } from '../support/served.js';
import { caFile, tlsServer } from '../support/tls-server.js';
import { commandsOf, corrected, showsSame } from './page.js';
import { TerminalSession } from './terminal-session.js';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'userinfo.cjs');
const network = join(import.meta.dirname, 'api.example.com.cjs');

/** A command that stays while the page goes on. */
const staying = /^userinfo serve\b(?!.*&$)/;

/**
 * For what a command that stays is waited: what is not there by then is another text, and not a
 * busy machine.
 */
const maxMs = 60_000;

/** A person who reads a page, with a terminal and a machine that has seen nothing of it. */
export class Reader implements AsyncDisposable {
  readonly #folder = newHome();
  /** What is closed when the page has been read, the last first. */
  readonly #open: AsyncDisposable[] = [];
  /** What the page says, and what stands for it on this machine, of the same length. */
  readonly #names = new Map([['/home/ada', this.#folder]]);
  #env: Readonly<Record<string, string>> = {};
  #secret = '';
  #terminal: TerminalSession | undefined;
  /** Where the last command runs that stays. */
  #stays: TerminalSession | undefined;

  /**
   * `page` is its text: what it speaks of is there. The terminal has colours only if the page is to
   * be a picture.
   */
  static async of(page: string, colors = false): Promise<Reader> {
    const reader = new Reader();
    reader.#env = colors ? {} : { NO_COLOR: '1' };
    await reader.#begin(page);
    return reader;
  }

  /** Runs what a page's comment says, without showing it. */
  async prepare(command: string): Promise<void> {
    if (staying.test(command)) {
      await this.#stay(this.#toReal(command), (lines) => lines.length > 0);
    } else {
      const printed = await this.#own.run(`${this.#toReal(command)} || echo FAILED`);
      if (printed.includes('FAILED')) throw new Error(`${command}: ${printed.join('\n')}`);
    }
  }

  /**
   * Runs the commands of a block, and returns it as it must be: as it is where that shows what was
   * printed.
   */
  async follow(block: string): Promise<string> {
    const shown: string[] = [];
    for (const { command, output } of commandsOf(block)) {
      const printed = this.#allShown(await this.#run(this.#toReal(command), output));
      if (command !== '') shown.push(`$ ${command}`);
      shown.push(...corrected(output, printed));
    }
    return shown.map((line) => `${line}\n`).join('');
  }

  /**
   * Runs a command, agrees to what it asks, and returns the screen after it with its colours; in
   * its text, replace names by `shown`.
   */
  async screen(command: string): Promise<xterm.Terminal> {
    await this.#own.run(this.#toReal(command), { answer: () => 'Yes\r' });
    return this.#own.screen;
  }

  /** The text as the page says it. */
  shown(text: string): string {
    return this.#allShown([text])[0] ?? '';
  }

  get #own(): TerminalSession {
    if (this.#terminal === undefined) throw new Error('there is no terminal');
    return this.#terminal;
  }

  async #run(command: string, output: readonly string[]): Promise<string[]> {
    if (command === '')
      return (await this.#stays?.until((lines) => lines.length >= output.length, maxMs)) ?? [];
    if (staying.test(command)) {
      return this.#stay(
        command,
        (lines) => lines.length > 0 && showsSame(output, this.#allShown(lines)),
      );
    }
    return this.#own.run(command, {
      answer: (question) => this.#answer(question, output),
      interrupt: output.includes('interrupted'),
    });
  }

  /** What the page shows behind the question; the secret where that is hidden. */
  #answer(question: string, output: readonly string[]): string {
    const lines = question.split('\n');
    // A long question is broken into lines.
    const first = lines.findIndex((line) => line.startsWith('❯ ') || line.startsWith('  '));
    const asked = this.#allShown(lines.slice(0, first === -1 ? lines.length : first));
    const text = asked.join(' ').slice(2);
    const label = `✔ ${text.replace(/ (\(y\/N\)|\[input is masked\])$/, '')}`;
    const answer = answerBehind(label, output);
    if (answer === undefined) throw new Error(`the page has no line "${label} ANSWER"`);
    const chosen = lines.find((line) => line.startsWith('❯ '))?.slice(2);
    if (chosen === undefined) return `${this.#toReal(answer) || this.#secret}\r`;
    return chosen === answer ? '\r' : '\x1b[B';
  }

  #toReal(text: string): string {
    return [...this.#names].reduce((rest, [shown, real]) => rest.replaceAll(shown, real), text);
  }

  #allShown(lines: readonly string[]): string[] {
    const names = [...this.#names].reverse();
    return lines.map((line) =>
      names.reduce((rest, [shown, real]) => rest.replaceAll(real, shown), line),
    );
  }

  async #begin(page: string): Promise<void> {
    mkdirSync(join(this.#folder, '.bin'));
    symlinkSync(bin, join(this.#folder, '.bin', 'userinfo'));
    for (const shown of new Set(['8787', ...(page.match(/(?<=:|--port )87\d\d\b/g) ?? [])])) {
      const real = await freePort();
      this.#names.set(`:${shown}`, `:${real}`).set(`--port ${shown}`, `--port ${real}`);
    }
    const own = this.#names.get(':8787');
    this.#names.set('serve --demo', `serve --demo --port ${own?.slice(1)}`);
    // Apps whose command in the page has no --base-url.
    for (const profile of ['--profile own', '--profile partner'])
      this.#names.set(profile, `${profile} --base-url http://127.0.0.1${own}`);
    for (const url of new Set(page.match(/postgres:\/\/userinfo@db\.example\/\w+/g))) {
      const schema = await createSchema();
      this.#open.push({ [Symbol.asyncDispose]: () => schema.remove() });
      this.#names.set(url, schema.url);
    }
    const deployment = /\b(?:api|test)\.example\.com/.test(page) ? await this.#deployment() : {};
    this.#terminal = await this.#openTerminal(deployment);
  }

  /** A command on a terminal of its own, until the page ends. */
  async #stay(command: string, isDone: (lines: string[]) => boolean): Promise<string[]> {
    const terminal = await this.#openTerminal();
    this.#stays = terminal;
    terminal.begin(command);
    return terminal.until(isDone, maxMs);
  }

  async #openTerminal(env: Readonly<Record<string, string>> = {}): Promise<TerminalSession> {
    const path = `${join(this.#folder, '.bin')}:${process.env.PATH}`;
    const own = { PATH: path, HOME: this.#folder, LANG: 'C.UTF-8', TZ: 'Asia/Shanghai' };
    const terminal = await TerminalSession.open(this.#folder, { ...own, ...this.#env, ...env });
    this.#open.push(terminal);
    return terminal;
  }

  /**
   * The platform at api.example.com and test.example.com: app-1 of tenant acme, a rule that is not
   * the default, a captured request of each.
   */
  async #deployment(): Promise<Readonly<Record<string, string>>> {
    const service = await createService();
    this.#open.push({ [Symbol.asyncDispose]: () => service.close() });
    const shared = { steps: ['md5'], output: 'HEX' } as const;
    const recipes = {
      app_sign: completeRecipe({
        ...shared,
        message: ['$param:app_key', '$param:timestamp', '$secret'],
      }),
      sign: completeRecipe({
        ...shared,
        params: { empty: 'drop' },
        message: ['$params', '&key=', '$secret'],
      }),
    };
    const identity = { tenantCode: 'acme', channel: 'web' };
    const app = await service.admin.createApp({ ...identity, appKey: 'app-1', recipes });
    await service.admin.putUsers([firstUser]);
    const { code } = await service.admin.issueCode({ ...identity, unionId: 'u001', uses: 9 });
    this.#secret = app.app_secret.reveal();
    const own = {
      baseUrl: 'https://api.example.com',
      appKey: 'app-1',
      appSecret: this.#secret,
      platform: { signing: recipes },
    };
    await using client = new UserInfoClient({ ...identity, ...own });
    const { url } = await client.signRead({ code, infoNames: ['mobile'] });
    const captured = `${url}\n`;
    writeFileSync(join(this.#folder, 'captured.txt'), captured);
    writeFileSync(join(this.#folder, 'test-request.txt'), captured.replace('api.', 'test.'));
    const server = await tlsServer('api.example.com', service.url);
    this.#open.push({ [Symbol.asyncDispose]: () => server.close() });
    return {
      NODE_OPTIONS: `--require=${network}`,
      NODE_EXTRA_CA_CERTS: caFile,
      TEST_PORT: new URL(server.url).port,
      // For the comments of pages, such as `<!-- run: code=$PLATFORM_CODE -->`.
      PLATFORM_CODE: code,
      PLATFORM_SECRET: this.#secret,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#open.reverse()) await one[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A folder with a name as long as `/home/ada`, so that lines break at the same places. */
function newHome(): string {
  for (;;) {
    const folder = `/tmp/${randomBytes(2).toString('hex')}`;
    if (existsSync(folder)) continue;
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }
}

/** A port of four digits, as that of the pages. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(2_000, 9_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** The text behind a question, on the line of the page where the question ends. */
function answerBehind(label: string, output: readonly string[]): string | undefined {
  for (const [start, line] of output.entries()) {
    if (!line.startsWith('✔ ')) continue;
    for (let end = start + 1; end <= output.length; end += 1) {
      const shown = output.slice(start, end).join(' ');
      if (shown.startsWith(label)) return shown.slice(label.length + 1);
    }
  }
  return undefined;
}
