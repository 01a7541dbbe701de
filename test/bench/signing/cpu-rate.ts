/** CPU seconds that this process has used: others on the machine do not count. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const batch = 1000;

/** How often a second of CPU something can be done, measured for some seconds. */
export function cpuRate(seconds: number, work: (round: number) => unknown): number {
  const startedAt = cpuSeconds();
  let count = 0;
  while (cpuSeconds() - startedAt < seconds) {
    for (const end = count + batch; count < end; count++) work(count);
  }
  return count / (cpuSeconds() - startedAt);
}
