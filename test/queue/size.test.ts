import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Queue } from '../../src/queue/queue.js';
import { queueStatements } from '../../src/queue/statements.js';
import { fillQueue } from '../support/postgres/fill-queue.js';
import { createSchema, type TestSchema } from '../support/postgres/test-schema.js';

const [runs, chunks] = [50, 1000];

let schema: TestSchema;
let client: Client;

beforeAll(async () => {
  schema = await createSchema();
  await (await Queue.open(schema.url)).close();
  // PostgreSQL knows nothing about the sizes yet, as after a load.
  await fillQueue(schema.url, { runs, chunks, done: chunks / 2 });
  client = new Client(schema.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await schema.remove();
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The number of chunks that a plan read. */
function chunksRead(node: PlanNode): number {
  const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  const own = node['Relation Name'] === 'userinfo_chunks' ? rows * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, below) => sum + chunksRead(below), own);
}

const outcome = JSON.stringify([{ line: 500, outcome: 'ok', result: '' }]);
const values: Readonly<Record<keyof typeof queueStatements, readonly unknown[]>> = {
  add: ['new', '{}'],
  addChunk: ['run1', '[]'],
  lockReleases: [],
  release: ['run1', '[]'],
  find: ['run1'],
  list: [],
  ready: [],
  unfinished: [],
  lockReady: ['run1'],
  take: ['run1', 60_000, 1],
  record: ['run1', 500, 0, outcome],
  finish: ['run1', 500, 500, 500, 1, 0, 0],
  retry: ['run1'],
  stop: ['run1', 'ready'],
  removeData: ['run1', 0, 10],
  lockWhole: ['run1'],
  startRemoval: ['run1'],
  lastLine: ['run1'],
  removeChunks: ['run1', 0, 10],
  removeOutcomes: ['run1', 0, 5000],
  removeRun: ['run1'],
  expired: [0],
  outcomes: ['run1', 0, 1000],
  nextChunk: ['run1', 600],
};

it.each(Object.entries(queueStatements).filter(([name]) => name !== 'lockReleases'))(
  'no statement reads all chunks of 50 runs, or of one: %s',
  async (name, statement) => {
    await client.query('BEGIN');
    const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`;
    const { rows } = await client.query(explain, [...values[name as keyof typeof values]]);
    await client.query('ROLLBACK');
    const read = chunksRead(rows[0]['QUERY PLAN'][0].Plan);
    expect(read).toBeLessThanOrEqual(20);
  },
);
