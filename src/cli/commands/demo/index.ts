import { command } from '../../command.js';

export const declareDemo = command({
  name: 'demo',
  common: [],
  summary: 'try everything, against a service in memory',
  run: async ({ context, style }) => (await import('./tour.late.js')).runDemo(context, style.colors.cyan),
});
