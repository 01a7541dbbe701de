import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import xterm from '@xterm/headless';

/**
 * Reads the names of files with commands from the terminal, runs each, and marks where it ended.
 */
const loop = `stty rows 24 cols 80 -echo; trap : INT; printf '\\036'
while IFS= read -r file; do stty echo; . "$file"; stty -echo; printf '\\036'; done`;

/** Copies between its own standard streams and a pseudo-terminal. */
const bridge = [
  '-c',
  'import pty, sys; pty.spawn(sys.argv[1:])',
  'bash',
  '--noprofile',
  '--norc',
  '-c',
  loop,
];

const ended = '\x1e';

export interface Dialogue {
  /**
   * The keys that are pressed when the screen shows `question`, which has choices in its other
   * lines.
   */
  readonly answer?: (question: string) => string;
  /** Whether Ctrl-C is pressed, half a second after the command has shown something. */
  readonly interrupt?: boolean;
}

/** bash on a terminal of 80 columns, and a screen that shows what a person would see there. */
export class TerminalSession implements AsyncDisposable {
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #script: string;
  #screen = newScreen();
  #unread = '';
  #awaken = () => {};

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#script = join(folder, `.commands-${randomUUID()}`);
    this.#shell = spawn('python3', bridge, {
      cwd: folder,
      env: { ...env, TERM: 'xterm-256color' },
    });
    this.#shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#unread += text;
      this.#awaken();
    });
    this.#shell.stdin.on('error', () => {});
  }

  static async open(folder: string, env: NodeJS.ProcessEnv): Promise<TerminalSession> {
    const session = new TerminalSession(folder, env);
    await session.#toEnd({});
    return session;
  }

  /** Runs a command to its end, and returns the lines that are on the screen then. */
  async run(command: string, dialogue: Dialogue = {}): Promise<string[]> {
    this.begin(command);
    await this.#toEnd(dialogue);
    return this.lines();
  }

  /** Types a command that stays; `lines` gives what it has printed so far. */
  begin(command: string): void {
    this.#screen = newScreen();
    writeFileSync(this.#script, `${command}\n`);
    this.#shell.stdin.write(`${this.#script}\n`);
  }

  /** Waits until the lines are as wanted and no more come, or the time is up, and returns them. */
  async until(isDone: (lines: string[]) => boolean, limitMs: number): Promise<string[]> {
    let quietMs = 0;
    for (const end = Date.now() + limitMs; Date.now() < end && quietMs < 200; ) {
      await sleep(20);
      quietMs = this.#unread === '' && isDone(this.lines()) ? quietMs + 20 : 0;
      await this.#show();
    }
    return this.lines();
  }

  /**
   * The lines on the screen; one that the terminal broke is whole again.
   *
   * @throws Error if a line of a table is broken
   */
  lines(): string[] {
    const rows = screenRows(this.#screen);
    while (rows.at(-1)?.text === '') rows.pop();
    const broken = rows.find(({ text, rows: { length } }) => length > 1 && /^[┌├│└]/.test(text));
    if (broken !== undefined) throw new Error(`wider than 80 columns: ${broken.text}`);
    return rows.map(({ text }) => text);
  }

  /** The screen, for its colours. */
  get screen(): xterm.Terminal {
    return this.#screen;
  }

  press(keys: string): void {
    this.#shell.stdin.write(keys);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.press('\x03');
    this.#shell.stdin.end();
    const gone = new Promise((resolve) => this.#shell.once('close', resolve));
    await Promise.race([gone, sleep(2_000, undefined, { ref: false })]);
    this.#shell.kill('SIGKILL');
  }

  async #toEnd({ answer, interrupt = false }: Dialogue): Promise<void> {
    let asked = '';
    let isInterrupted = !interrupt;
    for (;;) {
      const isOver = this.#unread.includes(ended);
      await this.#show();
      if (isOver) break;
      if (!isInterrupted && this.lines().length > 0) {
        isInterrupted = true;
        setTimeout(() => this.press('\x03'), 500);
      }
      await this.#more(30_000, 100);
      const question = this.#question();
      if (this.#unread !== '' || question === '' || question === asked) continue;
      asked = question;
      this.press(answer?.(question) ?? '\x03');
    }
  }

  /** The question that waits for an answer, with the choices below it. */
  #question(): string {
    const lines = this.lines();
    const at = lines.findLastIndex((line) => line.startsWith('? '));
    return at === -1 ? '' : lines.slice(at).join('\n');
  }

  async #show(): Promise<void> {
    const text = this.#unread.replaceAll(ended, '');
    this.#unread = '';
    await new Promise<void>((resolve) => this.#screen.write(text, resolve));
  }

  /** Waits for output; where there is a question on the screen, only `pauseMs`. */
  async #more(limitMs: number, pauseMs = limitMs): Promise<void> {
    if (this.#unread !== '') return;
    const limit = this.#question() === '' ? limitMs : pauseMs;
    const timer = new AbortController();
    const arrived = new Promise<string>((resolve) => {
      this.#awaken = () => resolve('output');
    });
    const waited = sleep(limit, 'silence', { signal: timer.signal }).catch(() => 'output');
    const first = await Promise.race([arrived, waited]);
    timer.abort();
    if (first === 'silence' && limit === 30_000)
      throw new Error(`no end after ${limit} ms:\n${this.lines().join('\n')}`);
  }
}

function newScreen(): xterm.Terminal {
  return new xterm.Terminal({ cols: 80, rows: 24, scrollback: 5_000, allowProposedApi: true });
}

/** Each line with the rows of the screen that it takes. */
export function screenRows(screen: xterm.Terminal): { text: string; rows: xterm.IBufferLine[] }[] {
  const found: { text: string; rows: xterm.IBufferLine[] }[] = [];
  for (let index = 0; index < screen.buffer.active.length; index += 1) {
    const row = screen.buffer.active.getLine(index);
    if (row === undefined) continue;
    const last = found.at(-1);
    if (row.isWrapped && last !== undefined) {
      last.text = last.text.padEnd(80 * last.rows.length) + row.translateToString(true);
      last.rows.push(row);
    } else found.push({ text: row.translateToString(true), rows: [row] });
  }
  return found;
}
