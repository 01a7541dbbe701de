import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpServer } from '../../../support/raw-server.js';

/**
 * What a run does with files that it finds in the place of its own. `new` finds those of a finished
 * run, `resume` and `restart` those of one that was stopped.
 *
 * - begins: every row is sent once; the files of the run are replaced, links and copies stay.
 * - continues: rows with an outcome are not sent again, all others once (a used code never).
 * - anything else: the words of the refusal below; nothing is sent, and nothing changes.
 *
 * Where two words are joined by /, the first is for a passback, the second for a read.
 */
const table = `
  file     state            new              resume                 restart

  journal  missing          no-record        no-record              no-record
  journal  other's          no-journal       no-journal             no-journal
  journal  link to other's  no-journal       no-journal             no-journal
  journal  linked           begins/finished  continues              begins
  journal  dangling link    not-regular      not-regular            not-regular
  journal  pipe             not-regular      not-regular            not-regular
  journal  folder           not-regular      not-regular            not-regular
  journal  first edited     no-journal       no-journal             no-journal
  journal  last edited      damaged          damaged                damaged
  journal  a line missing   damaged          damaged                damaged
  journal  cut              unfinished       continues/not-written  begins/not-written
  journal  cut, all final   unfinished       continues/not-written  begins/not-written
  journal  grown            damaged          damaged                damaged
  journal  another run's    no-record        other-run              other-unfinished
  journal  hard link        begins/finished  continues              begins

  results  missing          begins/finished  missing                begins
  results  empty            not-written      not-written            not-written
  results  empty, alone     no-record        no-record              no-record
  results  empty, its own   unfinished       continues/begins       begins
  results  missing, begun   unfinished       continues/begins       begins
  results  other's          not-written      not-written            not-written
  results  link to other's  not-written      not-written            not-written
  results  linked           begins/finished  continues              begins
  results  dangling link    not-regular      not-regular            not-regular
  results  pipe             not-regular      not-regular            not-regular
  results  folder           not-regular      not-regular            not-regular
  results  first edited     not-written      not-written            not-written
  results  last edited      not-written      not-written            not-written
  results  cut              not-written      not-written            not-written
  results  killed           unfinished       continues              begins
  results  NUL behind it    begins/finished  continues              begins
  results  grown            not-written      not-written            not-written
  results  another run's    not-written      not-written            not-written
  results  hard link        begins/finished  continues              begins

  failed   missing          begins/finished  continues              begins
  failed   other's          not-ours         not-ours               not-ours
  failed   link to other's  not-ours         not-ours               not-ours
  failed   linked           begins/finished  continues              begins
  failed   dangling link    not-regular      not-regular            not-regular
  failed   pipe             not-regular      not-regular            not-regular
  failed   folder           not-regular      not-regular            not-regular
  failed   last edited      not-ours         not-ours               not-ours
  failed   another run's    not-ours         not-ours               not-ours

  draft    other's          begins/finished  continues              begins
  draft    dangling link    begins/finished  continues              begins
  draft    folder           begins/finished  continues              begins
`;

/** `R` stands for the results, `J` for the journal, `F` for the file of failed rows. */
const words: Readonly<Record<string, string>> = {
  'no-record': 'R already exists, and no journal says that this run wrote it',
  'no-journal': 'J is not a journal of userinfo, or one of another version',
  'not-regular': ' already exists, and is not a regular file',
  damaged: 'J is damaged: which ',
  unfinished: 'J is of a run that is not finished',
  finished: 'the run of J is finished',
  'other-run': 'the run of J was begun with another input file',
  missing: 'the results of the run, R, are missing',
  'not-written': 'R is not what J says that the run wrote',
  'other-unfinished': 'J is of another run that is not finished',
  'not-ours': 'F already exists, and is not what this run wrote there',
};

const names = {
  journal: 'rows.csv.userinfo-journal',
  results: 'rows.csv.results.ndjson',
  failed: 'rows.failed',
  draft: 'rows.failed.userinfo-draft',
};
type File = keyof typeof names;
type Operation = 'passback' | 'read';
type Start = 'new' | 'resume' | 'restart';

/** Changes a line, and keeps its length. */
const edit = (line: string) =>
  line.replace(/[a-z](?=[^a-z]*$)/, (old) => (old === 'x' ? 'y' : 'x'));
const lines = (text: string) => text.trimEnd().split('\n');
const text = (place: string) => readFileSync(place, 'utf8');
const change = (how: (lines: string[], text: string) => string) => (place: string) => {
  const before = text(place);
  const after = how(lines(before), before);
  expect(after).not.toBe(before);
  writeFileSync(place, after);
};
const join1 = (all: readonly string[]) => all.map((line) => `${line}\n`).join('');

/**
 * Removes the last record of results, and those behind it; the failed file is of a time after that.
 */
function unrecord(results: string): void {
  const folder = dirname(results);
  rmSync(join(folder, names.failed));
  const isResults = (line: string) => line.includes('"record":"results"');
  change((all) => join1(all.slice(0, all.findLastIndex(isResults))))(join(folder, names.journal));
}

/** Leaves a journal that was begun when its run was killed, and no results. */
function begun(results: string): void {
  const folder = dirname(results);
  change((all) => join1(all.slice(0, 1)))(join(folder, names.journal));
  for (const place of [results, join(folder, names.failed)]) rmSync(place);
}

/** What is put in the place of a file; `another` is the folder of another run that ended alike. */
const states: Readonly<Record<string, (place: string, another: string, file: File) => void>> = {
  missing: (place) => rmSync(place),
  empty: (place) => writeFileSync(place, ''),
  'empty, alone': (place) => {
    rmSync(join(dirname(place), names.journal));
    writeFileSync(place, '');
  },
  // Killed before the first row.
  'empty, its own': (place) => {
    begun(place);
    writeFileSync(place, '');
  },
  'missing, begun': begun,
  "other's": (place) => {
    rmSync(place, { force: true });
    writeFileSync(place, 'precious\n{"line":1}\n', { mode: 0o644 });
  },
  "link to other's": (place) => {
    rmSync(place, { force: true });
    writeFileSync(`${place}.target`, 'precious\n', { mode: 0o644 });
    symlinkSync(`${place}.target`, place);
  },
  linked: (place) => {
    renameSync(place, `${place}.target`);
    symlinkSync(`${place}.target`, place);
  },
  'dangling link': (place) => {
    rmSync(place, { force: true });
    symlinkSync('nowhere', place);
  },
  pipe: (place) => {
    rmSync(place, { force: true });
    execFileSync('mkfifo', [place]);
  },
  folder: (place) => {
    rmSync(place, { force: true });
    mkdirSync(place);
  },
  'first edited': change(([first = '', ...rest]) => join1([edit(first), ...rest])),
  'last edited': change((all) => join1([...all.slice(0, -1), edit(all.at(-1) ?? '')])),
  'a line missing': change((all) => {
    const first = all.findIndex((line) => line.includes('"record":"results"'));
    return join1(all.toSpliced(first, 1));
  }),
  cut: (place, _, file) => {
    const keep = { journal: 3, results: 7, failed: 1, draft: 0 }[file];
    change((all) => join1(all.slice(0, keep)) + all[keep]?.slice(0, 15))(place);
  },
  'NUL behind it': (place) => appendFileSync(place, Buffer.alloc(5000)),
  // The last results are not recorded yet, and one is being written.
  killed: (place) => {
    change((all) => join1(all.slice(0, 8)) + all[8]?.slice(0, 30))(place);
    unrecord(place);
  },
  // The rows whose results are left are none that the journal has.
  'cut, all final': (place) => {
    change((all) => join1(all.slice(0, 3)))(place);
    change((all) => join1(all.slice(0, 8)))(join(dirname(place), names.results));
  },
  grown: (place) => appendFileSync(place, 'precious\n'),
  "another run's": (place, another, file) =>
    cpSync(join(another, names[file].replace('rows', 'other')), place),
  'hard link': (place) => linkSync(place, `${place}.other-name`),
};

const { main } = createRequire(import.meta.url)('../../../../dist/cli/main.cjs');

/** Runs the built program in this process. */
async function userinfo(
  ...args: string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') =>
    new PassThrough().on('data', (chunk) => {
      printed[name] += chunk;
    });
  const env = {
    PATH: process.env.PATH,
    USERINFO_APP_SECRET: 's3cret',
    USERINFO_CONFIG_DIR: join(root, 'config'),
  };
  const status = await new Promise<number>((exit, reject) => {
    const host = { argv: ['node', 'userinfo', ...args], env, stdin: new PassThrough().end(), exit };
    const streams = { stdout: stream('stdout'), stderr: stream('stderr'), on: () => host };
    main(Object.assign(host, streams)).catch(reject);
  });
  return { status, ...printed };
}

/** A platform that counts what it is asked, by user or code. */
async function platform() {
  const asked = new Map<string, number>();
  const state = { asked, losesAnswers: false, isSlow: true };
  const server = await httpServer(async ({ method, query, body }, response) => {
    const parameters = new URLSearchParams(body || query);
    const key = parameters.get('code') ?? parameters.get('union_id') ?? '';
    asked.set(key, (asked.get(key) ?? 0) + 1);
    if (state.losesAnswers && key.startsWith('lost')) return void response.destroy();
    // Longer than the journal may lag behind: it has two records of the results.
    if (state.isSlow && /\D5$/.test(key)) await new Promise((resolve) => setTimeout(resolve, 600));
    const code = !key.startsWith('no') ? 200 : method === 'GET' ? 40106 : 40401;
    response.end(JSON.stringify({ code, msg: 'm', data: { union_id: key } }));
  });
  return Object.assign(state, server);
}

/** In memory, where there are no disks to wait for; short, because messages shorten long paths. */
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'u-'));
const rowCount = 16;
/** The answer of one is lost where it is asked for the first time, the other is refused. */
const keyOf = (row: number, prefix: string) =>
  `${row === 3 ? 'lost' : row === 9 ? 'no' : ''}${prefix}${row}`;
const keysOf = (prefix: string) => Array.from({ length: rowCount }, (_, row) => keyOf(row, prefix));
const lineOf = (row: number) => row + 2;

let lanesBegun = 0;

/** A way to start, with a platform of its own, and the files of a run that it finds. */
class Lane {
  readonly operation: Operation;
  readonly start: Start;
  readonly #folder: string;
  #platform!: Awaited<ReturnType<typeof platform>>;
  #sentBefore!: ReadonlySet<string>;

  constructor(operation: Operation, start: Start) {
    this.operation = operation;
    this.start = start;
    this.#folder = join(root, String(lanesBegun++));
  }

  async prepare(): Promise<void> {
    this.#platform = await platform();
    for (const prefix of ['other', 'rows']) {
      const folder = join(this.#folder, prefix);
      mkdirSync(folder, { recursive: true });
      const header = this.operation === 'read' ? 'code,v' : 'union_id,v';
      writeFileSync(
        join(folder, `${prefix}.csv`),
        join1([header, ...keysOf(prefix).map((key) => `${key},abc`)]),
      );
      this.#platform.asked.clear();
      this.#platform.losesAnswers = this.start !== 'new';
      // Stops behind the row that fails: two are not ok.
      const more = this.start === 'new' ? [] : ['--max-failures', '2'];
      const { status, stderr } = await this.#run(folder, prefix, ...more);
      expect(stderr).toContain(this.start === 'new' ? '1 of 16' : 'stopped: 2');
      expect(status).toBe(6);
      expect(this.#platform.asked.size).toBe(this.start === 'new' ? 16 : 10);
    }
    this.#sentBefore = new Set(this.#platform.asked.keys());
    this.#platform.losesAnswers = false;
    this.#platform.isSlow = false;
  }

  close(): Promise<void> {
    return this.#platform.close();
  }

  #run(folder: string, prefix: string, ...more: string[]) {
    const where = [
      '--base-url',
      this.#platform.url,
      ...'--environment test --tenant-code acme'.split(' '),
    ];
    const who = ['--channel', 'web', '--app-key', 'a1', '--concurrency', '1', '--attempts', '1'];
    const file = join(folder, `${prefix}.csv`);
    const failed = ['--failed', join(folder, `${prefix}.failed`)];
    return userinfo('bulk', this.operation, file, ...where, ...who, ...failed, ...more);
  }

  async check(file: File, state: string, expected: string): Promise<void> {
    const { start, operation } = this;
    const folder = join(this.#folder, 'it');
    // Identity has no path: a run can be moved with its folder.
    rmSync(folder, { recursive: true, force: true });
    cpSync(join(this.#folder, 'rows'), folder, { recursive: true });
    // Only the journal proves it; a case of its own shows that.
    if (file === 'journal' && state !== 'linked') rmSync(join(folder, names.failed));
    states[state]?.(join(folder, names[file]), join(this.#folder, 'other'), file);
    const before = snapshot(folder);
    const results = join(folder, names.results);
    const finalBefore = new Set(
      lstatSync(results, { throwIfNoEntry: false })?.isFile() || state === 'linked'
        ? finalLines(results)
        : [],
    );
    this.#platform.asked.clear();
    const done = await this.#run(folder, 'rows', ...(start === 'new' ? [] : [`--${start}`]));
    const asked = new Map(this.#platform.asked);
    const after = snapshot(folder);

    const refusal = words[expected];
    if (refusal !== undefined) {
      const said = done.stderr.replaceAll(`${folder}/`, '');
      const named = refusal.replace(/\b[JRF]\b/g, (letter) =>
        JSON.stringify(names[files[letter] ?? 'draft']),
      );
      expect(said).toContain(named);
      expect(said).toMatch(/nothing was sent/i);
      expect(done).toMatchObject({ status: 2, stdout: '' });
      expect(asked).toEqual(new Map());
      expect(after).toEqual(before);
      return;
    }

    expect(done.stderr).toMatch(/^error: [12] of 16 rows (is|are) not ok$/m);
    expect(done).toMatchObject({ status: 6, stdout: '' });
    // Each row has one line.
    const written = lines(text(results)).map((line): number => JSON.parse(line).line);
    expect(written.sort((a, b) => a - b)).toEqual(keysOf('rows').map((_, row) => lineOf(row)));
    const toSend = keysOf('rows').filter((key, row) => {
      if (expected !== 'continues') return true;
      return operation === 'read' ? !this.#sentBefore.has(key) : !finalBefore.has(lineOf(row));
    });
    expect(asked).toEqual(new Map(toSend.map((key) => [key, 1])));
    expect(lines(text(join(folder, names.failed))).join('\n')).toMatch(/,norows9,abc$/m);
    // Only the files of the run are others than before.
    for (const [name, what] of before) {
      if (!isOfRun(name, state, expected)) expect([name, after.get(name)]).toEqual([name, what]);
    }
    const added = [...after.keys()].filter((name) => !before.has(name));
    expect(added.filter((name) => !isOfRun(name, state, expected))).toEqual([]);
    if (state === 'linked')
      expect(lstatSync(join(folder, names[file])).isSymbolicLink()).toBe(true);
  }
}

const files: Readonly<Record<string, File>> = { J: 'journal', R: 'results', F: 'failed' };

/**
 * Whether a file may differ afterwards: those of the run, and their targets or other names where
 * they are its own.
 */
function isOfRun(name: string, state: string, expected: string): boolean {
  const own = [names.journal, names.results, names.failed];
  if (own.includes(name)) return true;
  if (state === 'linked') return own.some((file) => name === `${file}.target`);
  return (
    state === 'hard link' &&
    expected === 'continues' &&
    own.some((file) => name === `${file}.other-name`)
  );
}

/** Everything in a folder: type, mode, inode, and contents or target. */
function snapshot(folder: string): Map<string, object> {
  const entries = readdirSync(folder).map((name): [string, object] => {
    const place = join(folder, name);
    const stat = lstatSync(place);
    const content = stat.isFile() ? text(place) : stat.isSymbolicLink() ? readlinkSync(place) : '';
    return [name, { mode: stat.mode, ino: stat.ino, content }];
  });
  return new Map(entries);
}

/** The input lines of rows that a results file has with a final outcome. */
function finalLines(results: string): number[] {
  if (!existsSync(results)) return [];
  return lines(text(results)).flatMap((line) => {
    try {
      const { line: number, outcome } = JSON.parse(line);
      return outcome === 'unknown' ? [] : [number];
    } catch {
      return [];
    }
  });
}

const lanes = (['new', 'resume', 'restart'] as const).flatMap((start) =>
  (['passback', 'read'] as const).map((operation) => new Lane(operation, start)),
);

beforeAll(async () => {
  await Promise.all(lanes.map((lane) => lane.prepare()));
});

afterAll(async () => {
  for (const lane of lanes) await lane.close();
  rmSync(root, { recursive: true });
});

const rows = lines(table)
  .slice(2)
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const columns = [2, 11, 28, 45, 68].map((at, i, all) => line.slice(at, all[i + 1]).trim());
    const [file = '', state = '', ...expected] = columns;
    return [file as File, state, expected] as const;
  });

describe('a run that finds', () => {
  it.each(rows)('%s: %s', async (file, state, expected) => {
    const checks = lanes.map(async (lane) => {
      const cell = expected[['new', 'resume', 'restart'].indexOf(lane.start)] ?? '';
      const [ofPassback = '', ofRead = ofPassback] = cell.split('/');
      const ofLane = lane.operation === 'read' ? ofRead : ofPassback;
      await lane.check(file, state, ofLane).catch((error) => {
        error.message = `${lane.operation}, ${lane.start}: ${error.message}`;
        throw error;
      });
    });
    const ends = await Promise.allSettled(checks);
    const faults = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    if (faults.length > 0)
      throw new AggregateError(faults, faults.map(({ message }) => message).join('\n'));
  });
});
