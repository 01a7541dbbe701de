/** What the programs in README.md and docs/ take for granted. */
declare const metrics: { observe(operation: string, httpStatus: number, durationMs: number): void };
declare const rows: readonly {
  readonly unionId: string;
  readonly userInfo: Record<string, string>;
}[];
declare const options: import('userinfo-exchange').UserInfoClientOptions;
declare const client: import('userinfo-exchange').UserInfoClient;
declare const vault: { read(name: string): Promise<string> };
