/** A page of `userinfo help` that belongs to no single command. */
export interface HelpTopic {
  readonly name: string;
  readonly summary: string;
  /** Loads the page, which ends in a line break. */
  readonly load: () => Promise<string>;
}

export const helpTopics: readonly HelpTopic[] = [
  {
    name: 'environment',
    summary: 'environment variables',
    load: async () => (await import('./topics.js')).environmentTopic,
  },
  {
    name: 'exit-codes',
    summary: 'exit status of every command',
    load: async () => (await import('./topics.js')).exitCodesTopic,
  },
  {
    name: 'output',
    summary: 'output formats, and how to print only a part',
    load: async () => (await import('./topics.js')).outputTopic,
  },
  {
    name: 'signing',
    summary: 'how requests are signed, and how to find out',
    load: async () => (await import('./topics.js')).signingTopic,
  },
];
