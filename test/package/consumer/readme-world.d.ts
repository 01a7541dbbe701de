/** What the programs in the README take for granted. */
declare const metrics: { observe(operation: string, httpStatus: number, durationMs: number): void };
declare function afterAll(close: () => Promise<void>): void;
