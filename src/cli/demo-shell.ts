import { PassThrough, Readable, type Writable } from 'node:stream';
import type { CliContext } from './context.js';
import { type Io, write, writeStyled } from './io.js';
import { buildProgram } from './program.js';
import { quoteWhereNeeded } from './shell-words.js';

/** Shows commands as a user would type them, and runs each as `userinfo` would. */
export class DemoShell {
  readonly #context: CliContext;
  readonly #paint: (command: string) => string;

  /** `paint` colours what is typed. */
  constructor(context: CliContext, paint: (command: string) => string) {
    this.#context = context;
    this.#paint = paint;
  }

  /** Runs `userinfo` with `args`, all that it prints on stdout, and returns its data. */
  async type(args: readonly string[], stdin?: string): Promise<string> {
    const { io } = this.#context;
    const command = ['userinfo', ...args].map(quoteWhereNeeded).join(' ');
    const typed = stdin === undefined ? command : `echo ${quoteWhereNeeded(stdin)} | ${command}`;
    await writeStyled(io.stdout, `${this.#paint(`$ ${typed}`)}\n`);
    const printed = copyTo(io.stdout);
    const inner: Io = {
      ...io,
      stdin: Readable.from([Buffer.from(stdin ?? '')]),
      stdout: printed.stream,
      stderr: io.stdout,
    };
    const program = await buildProgram({ ...this.#context, io: inner }, args);
    await program.parseAsync(args, { from: 'user' });
    await write(io.stdout, '\n');
    return printed.text();
  }
}

/** A stream that passes everything on, and keeps it. */
function copyTo(stdout: Writable): { stream: PassThrough; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    stdout.write(chunk);
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
