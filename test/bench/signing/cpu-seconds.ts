/** CPU seconds that this process has used: others on the machine count little. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
