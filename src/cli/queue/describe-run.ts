import type { QueuedRun } from '../../queue/run.js';

/** A run as `runs list` shows it. */
export function summarizeRun(run: QueuedRun): object {
  const { environment, base_url } = run.target;
  const { counts, rows } = run;
  const done = counts.ok + counts.failed + counts.invalid + counts.unknown;
  return {
    run: run.run,
    state: run.state,
    environment,
    base_url,
    from: run.source.from,
    rows,
    done,
    not_ok: done - counts.ok,
    created_at: toSeconds(run.createdAt),
  };
}

/** A run as `runs show` shows it. */
export function describeRun(run: QueuedRun, workers: number): object {
  const { target, counts, naming } = run;
  return {
    run: run.run,
    state: run.state,
    ...target,
    from: run.source.from,
    ...(naming.by === 'union_id' ? { union_id_column: naming.column } : { primary_key: naming.key }),
    rows: run.rows,
    ...counts,
    chunks: run.chunks,
    chunks_done: run.chunksDone,
    workers,
    ...(run.rate === null ? {} : { rate: `${run.rate}/s` }),
    keeps_rows: run.keepsRows,
    created_at: toSeconds(run.createdAt),
    ...(run.endedAt === null ? {} : { ended_at: toSeconds(run.endedAt) }),
  };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
