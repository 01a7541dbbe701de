/** A measured rate: how often a second something was done. */
export interface Rate {
  readonly name: string;
  readonly perSecond: number;
}

/**
 * Prints rates as what they are of a baseline that was measured in the same run: seconds alone say
 * little.
 */
export function printRates(title: string, baseline: Rate, ...rates: readonly Rate[]): void {
  const width = Math.max(...[baseline, ...rates].map(({ name }) => name.length));
  const line = ({ name, perSecond }: Rate) => {
    const ratio = (perSecond / baseline.perSecond).toFixed(2);
    return `  ${name.padEnd(width)}  ${ratio.padStart(6)}  (${Math.round(perSecond)}/s)`;
  };
  process.stdout.write(`\n${[title, line(baseline), ...rates.map(line)].join('\n')}\n`);
}
