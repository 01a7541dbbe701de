/** Info names as they are given: separated by commas, each argument one or several. */
export function splitNames(given: readonly string[]): string[] {
  return given.flatMap((names) => names.split(',')).filter((name) => name !== '');
}
