import type { Declare } from '../command.js';

/** The commands, in the order of the help; the module of each is loaded only if the arguments may mean it. */
const commands: Readonly<Record<string, () => Promise<Declare>>> = {
  read: async () => (await import('./read.js')).declareRead,
  passback: async () => (await import('./passback.js')).declarePassback,
  profile: async () => (await import('./profile/index.js')).declareProfile,
  sign: async () => (await import('./sign/index.js')).declareSign,
  serve: async () => (await import('./serve/index.js')).declareServe,
  admin: async () => (await import('./admin/index.js')).declareAdmin,
  migrate: async () => (await import('./migrate.js')).declareMigrate,
  worker: async () => (await import('./worker.js')).declareWorker,
  runs: async () => (await import('./runs.js')).declareRuns,
  demo: async () => (await import('./demo/index.js')).declareDemo,
  doctor: async () => (await import('./doctor/index.js')).declareDoctor,
  probe: async () => (await import('./probe/index.js')).declareProbe,
  openapi: async () => (await import('./openapi.js')).declareOpenApi,
  explain: async () => (await import('./explain.js')).declareExplain,
  completion: async () => (await import('./completion/index.js')).declareCompletion,
  help: async () => (await import('./help/index.js')).declareHelp,
};

/** Loads the commands that `args` may mean: those it names, or all if it names none or asks for help. */
export async function declarationsFor(args: readonly string[]): Promise<Declare[]> {
  const all = Object.entries(commands);
  const named = all.filter(([name]) => args.includes(name));
  const isKnown = named.length > 0 && !args.includes('help') && !isMistyped(args);
  return Promise.all((isKnown ? named : all).map(([, load]) => load()));
}

/** Whether an argument before the first command is neither an option nor its value. */
function isMistyped(args: readonly string[]): boolean {
  const first = args.findIndex((arg) => Object.hasOwn(commands, arg));
  const before = args.slice(0, first);
  return before.some((arg, index) => !arg.startsWith('-') && !before[index - 1]?.startsWith('-'));
}
