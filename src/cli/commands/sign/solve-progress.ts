import type { CliContext } from '../../context.js';

const lineMs = 150;

/** Shows on a terminal, while something is searched, how far the search is. */
export async function withSolveProgress<T>(
  { io, now }: CliContext,
  work: (onProgress: (tried: number) => void) => Promise<T>,
): Promise<T> {
  const { stderr } = io;
  let tried = 0;
  const onProgress = (count: number) => {
    tried = count;
  };
  if (!stderr.isTTY) return work(onProgress);
  const startedAt = now();
  const timer = setInterval(() => {
    const seconds = ((now() - startedAt) / 1000).toFixed(0);
    stderr.write(`\rsearching: ${tried.toLocaleString('en')} recipes tried, ${seconds} s\u001b[K`);
  }, lineMs);
  try {
    return await work(onProgress);
  } finally {
    clearInterval(timer);
    stderr.write('\r\u001b[K');
  }
}
