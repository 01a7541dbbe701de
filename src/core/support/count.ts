/** `48,211`. Not by Intl, which takes 25 ms to load. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
