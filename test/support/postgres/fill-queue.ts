import { execute } from './test-schema.js';

/** Fills an open queue with ready runs `run1…`, each of so many chunks of a row, of which the first are done. */
export async function fillQueue(
  url: string,
  { runs, chunks, done }: { readonly runs: number; readonly chunks: number; readonly done: number },
): Promise<void> {
  const properties = JSON.stringify({
    target: { environment: 'test', base_url: 'http://127.0.0.1', tenant_code: 'acme', channel: 'web' },
    naming: { by: 'union_id', column: 'union_id' },
    source: { from: 'f', hash: '' },
    rows: chunks,
    rate: null,
    keepsRows: false,
    leaseMs: 60_000,
  });
  await execute(
    url,
    `INSERT INTO userinfo_runs (run, state, properties, created_at, chunks, chunks_done, ok)
       SELECT 'run' || r, 'ready', '${properties}', r, ${chunks}, ${done}, ${done} FROM generate_series(1, ${runs}) r;
     INSERT INTO userinfo_chunks (run, chunk, data, done, takings)
       SELECT 'run' || r, c, CASE WHEN c >= ${done} THEN '[{"line":' || c || ',"json":"{}"}]' END, c < ${done}, 1
       FROM generate_series(1, ${runs}) r, generate_series(0, ${chunks - 1}) c`,
  );
}
