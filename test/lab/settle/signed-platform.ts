import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A request that a platform received; `refused` is the reason, `null` if it was carried out. */
interface ReceivedRequest {
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly refused?: string | null;
}

interface PlatformRecord {
  readonly requests: readonly ReceivedRequest[];
  /** Number of requests that changed a record or used a code up. */
  readonly changes: number;
  /** Number of requests that could have, with another signature. */
  readonly dangers: number;
}

/** A platform of signed_platform.py: another program, with a rule drawn at random. */
export interface SignedPlatform extends AsyncDisposable {
  readonly origin: string;
  readonly secret: string;
  /** The options of a profile for it. */
  readonly flags: readonly string[];
  /** A request that it accepted, as a person copies it. */
  capture(kind: 'read' | 'passback'): Promise<string>;
  issueCode(code: string): Promise<string>;
  /** What it received since the last call. */
  record(): Promise<PlatformRecord>;
}

/** Starts the platform of a seed; `fixed` is what is not drawn. */
export async function startPlatform(seed: number, fixed: object = {}): Promise<SignedPlatform> {
  const script = `${import.meta.dirname}/signed_platform.py`;
  const child = spawn('python3', [script, String(seed), JSON.stringify(fixed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { port, base, secret, tenant, channel, app_key } = JSON.parse(line);
  const origin = `http://127.0.0.1:${port}`;
  const ask = async (query: string) => (await fetch(`${origin}/_control?${query}`)).text();
  return {
    origin,
    secret,
    flags: [
      ...['--base-url', origin + base, '--tenant-code', tenant, '--channel', channel],
      ...['--app-key', app_key, '--environment', 'test', '--app-secret-env', 'SHOP'],
    ],
    capture: (kind) => ask(`capture=${kind}`),
    issueCode: async (code) => {
      await ask(`issue=${code}`);
      return code;
    },
    record: async () => JSON.parse(await ask('mark=1')),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
