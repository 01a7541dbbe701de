/** What a worker tells once it listens. */
export interface Listening {
  readonly url: string;
}

/** Tells a worker to end well. A signal could come on top of the terminal's own, and would then end it at once. */
export const stopMessage = 'stop';
