import { command } from '../../command.js';

export const declareDemo = command({
  name: 'demo',
  common: [],
  summary: 'try everything, against a service in memory',
  description:
    'Start the service on a free port with an empty store in memory, and run the commands that create an app, ' +
    'a user and a code, pass information back and read it. Nothing is left behind.',
  examples: [
    ['userinfo demo', 'takes a few seconds'],
    ['userinfo demo --no-color | less', 'page by page'],
  ],
  run: async ({ context, style }) => (await import('./tour.late.js')).runDemo(context, style.colors.cyan),
});
