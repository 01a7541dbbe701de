import type { Log, ProblemEvent } from './log.js';

/** How long the repeats of a problem are counted before they are logged, in milliseconds. */
const countingMs = 1000;

/** What is known of a problem that was logged less than a second ago. */
interface Recent {
  readonly event: ProblemEvent;
  repeats: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * A log that writes a problem at once, and its repeats once a second with their number: what is wrong with the store
 * is wrong for each request. Other events are written as they come. `end` writes what was counted until then.
 */
export function foldRepeats(log: Log): { readonly log: Log; end(): void } {
  const recent = new Map<string, Recent>();
  const logRepeats = ({ event, repeats }: Recent) => {
    if (repeats > 0) log({ ...event, repeats });
  };
  const onTimer = (key: string) => {
    const found = recent.get(key);
    if (found === undefined) return;
    logRepeats(found);
    if (found.repeats === 0) recent.delete(key);
    else found.timer.refresh();
    found.repeats = 0;
  };
  return {
    log(event) {
      if (!('problem' in event)) return log(event);
      const key = `${event.event} ${event.problem}`;
      const found = recent.get(key);
      if (found !== undefined) {
        found.repeats += 1;
        return;
      }
      recent.set(key, { event, repeats: 0, timer: setTimeout(onTimer, countingMs, key).unref() });
      log(event);
    },
    end() {
      for (const found of recent.values()) {
        clearTimeout(found.timer);
        logRepeats(found);
      }
      recent.clear();
    },
  };
}
