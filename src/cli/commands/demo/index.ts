import { command } from '../../command.js';

export const declareDemo = command({
  name: 'demo',
  common: [],
  summary: 'try everything, against a service in memory',
  help: () => import('./help.txt?raw'),
  action: async (invocation) => (await import('./tour.late.js')).runDemo(invocation),
});
