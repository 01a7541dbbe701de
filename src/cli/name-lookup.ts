import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { getBuiltinModule } from 'node:process';
import { isLoopback, urlHost } from '../protocol/base-url.js';

type Done = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

/** The lookup of the system. Nothing cancels it, and Node cannot exit while a thread of it waits. */
const systemLookup = dns.lookup;

/** Time for a name server to answer, in milliseconds, before names are looked up in another process. */
const promptMs = 250;

/** Lookups in other processes, by name and options: those of one name share a process. */
const underWay = new Map<string, Promise<LookupAddress[] | null>>();

/**
 * Has connections of this process look names up so that its end never waits for a silent name server: by the system
 * all the same, but in another process where no name server answers promptly.
 */
export function neverWaitForNameServers(): void {
  Object.assign(dns, { lookup });
}

/** Takes the same arguments as `lookup` of Node. */
function lookup(name: string, ...rest: (LookupOptions | number | Done)[]): void {
  const done = rest.pop() as Done;
  const [given = {}] = rest as (LookupOptions | number)[];
  const options = typeof given === 'number' ? { family: given } : given;
  findAway(name, options).then((found) => {
    if (found === null) systemLookup(name, options, done);
    else if (options.all) done(null, found);
    else done(null, found[0]?.address, found[0]?.family);
  }, done);
}

/** Looks a name up in another process; `null` if there is no need to, or no way. */
async function findAway(name: string, options: LookupOptions): Promise<LookupAddress[] | null> {
  const isLocal = !name || isLoopback(urlHost(name)) || getBuiltinModule('node:net').isIP(name) > 0;
  if (isLocal || (await isAnsweredPromptly(name))) return null;
  const key = JSON.stringify([name, options]);
  const found = underWay.get(key) ?? findInProcess(name, options);
  underWay.set(key, found);
  return found.finally(() => underWay.delete(key));
}

/** Whether a name server answers for addresses of both families, whatever it says: then the system will not wait. */
async function isAnsweredPromptly(name: string): Promise<boolean> {
  const resolver = new dns.promises.Resolver();
  const answers = Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, promptMs, null);
  });
  const first = await Promise.race([answers, late]);
  clearTimeout(timer);
  resolver.cancel();
  return first !== null;
}

/** Prints the addresses, or the error, as JSON. */
const program = `
  const [name, options] = process.argv.slice(1);
  require('node:dns').lookup(name, JSON.parse(options), (error, found) => {
    process.stdout.write(JSON.stringify(error ? { message: error.message, ...error } : found));
  });`;

/** `null` if no process can be started. */
function findInProcess(name: string, options: LookupOptions): Promise<LookupAddress[] | null> {
  const { execFile } = getBuiltinModule('node:child_process'); // few runs need it
  const args = ['--eval', program, '--', name, JSON.stringify({ ...options, all: true })];
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, args, (failure, printed) => {
      process.off('exit', end);
      if (failure !== null) return resolve(null);
      const found = JSON.parse(printed);
      if (Array.isArray(found)) resolve(found);
      else reject(Object.assign(new Error(found.message), found));
    });
    const end = () => child.kill('SIGKILL');
    process.on('exit', end);
  });
}
