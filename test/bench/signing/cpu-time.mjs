/** CPU seconds that this process has used: others on the machine count little. */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const batch = 500;

/**
 * Does something for so many CPU seconds, and adds to `tally`, {count, seconds}, how often and how
 * long.
 */
export function measure(tally, seconds, work) {
  const startedAt = cpuSeconds();
  while (cpuSeconds() - startedAt < seconds) {
    for (let round = 0; round < batch; round++) work();
    tally.count += batch;
  }
  tally.seconds += cpuSeconds() - startedAt;
}

export function perSecond({ count, seconds }) {
  return count / seconds;
}
