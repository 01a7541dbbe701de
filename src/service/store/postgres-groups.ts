// SQL of PostgreSQL alone: arrays, FOR UPDATE and several changes in one statement have no equal in SQLite, where a
// statement costs too little to share one.
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailableError } from '../../database/errors.js';
import {
  type SqlDriver,
  type SqlParameter,
  type SqlRow,
  sharedTransactions,
} from '../../database/sql-driver.js';
import { UserInfoError } from '../../protocol/errors.js';
import { splitInfoNames } from '../../protocol/info-names.js';
import type { UserRecord } from '../../protocol/user-record.js';
import { pauses } from '../../support/fair-queue.js';
import type { App } from './apps.js';
import { expiredBefore, keptUntil, possibleTimes } from './clock.js';
import type { AppRequest, PassbackRequest, PassbackResult, ReadRequest, ReadResult } from './operations.js';
import { rowStatements } from './statements.js';
import { changedDigests, hasValue, toRecord, tryChange, valueDigest } from './users.js';

/** Maximum number of requests in a group. */
const maxGroup = 64;

/** Maximum number of groups of one app and operation under way: while they run, the next one fills. */
const maxUnderWay = 2;

/** The same if the next one is full. */
const maxUnderWayIfFull = 4;

/** Maximum number of waiting requests of one app and operation: further ones are refused. */
const maxWaiting = 16 * maxGroup;

/** Maximum wait for a group or for a locked row, in milliseconds. */
const maxWaitMs = 5000;

/** Maximum number of requests of one app and operation that wait for the same row while another transaction has it. */
const maxLockedOut = maxGroup;

/** Pause before rows that were locked are tried again, in milliseconds: twice as long each time, up to the longest. */
const firstPauseMs = 2;
const longestPauseMs = 64;

/** The outcome of a request whose row another transaction has locked: nothing of it was stored. */
const rowLocked = Symbol('row locked');

/** A row stayed locked by another transaction, such as one of an SQL program. The database itself is well. */
export class RowLockedError extends StoreUnavailableError {
  constructor() {
    super('the record of the user, or the code, stays locked by another transaction', {
      hint: 'End that transaction: pg_blocking_pids and pg_stat_activity show who has it.',
    });
  }
}

/** A request that waits for its outcome. */
interface Waiting<Request, Outcome> {
  readonly request: Request;
  readonly claims: Claims;
  /** By the monotonic clock. */
  readonly since: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** What a request needs for itself. */
interface Claims {
  /** No other request of its group, or of a group under way, has one of them. */
  readonly alone: readonly string[];
  /** The row that it locks: requests for one row share a group, and no other group under way has it. */
  readonly row: string;
}

/**
 * Forms groups of the requests that arrive in one turn of the event loop, or while other groups are under way. A request
 * whose row another transaction has locked leaves its group, and is tried again beside the groups: nobody else waits.
 */
class Groups<Request, Outcome> {
  #waiting: Waiting<Request, Outcome>[] = [];
  #underWay = 0;
  /** What the groups under way claim. */
  readonly #claimed = new Set<string>();
  /** Requests whose rows were locked, and for each row their number, those that are tried again included. */
  #lockedOut: Waiting<Request, Outcome>[] = [];
  readonly #lockedRows = new Map<string, number>();
  #isTrying = false;
  readonly #claimsOf: (request: Request) => Claims;
  readonly #run: (requests: readonly Request[]) => Promise<readonly (Outcome | typeof rowLocked)[]>;

  constructor(
    claimsOf: (request: Request) => Claims,
    run: (requests: readonly Request[]) => Promise<readonly (Outcome | typeof rowLocked)[]>,
  ) {
    this.#claimsOf = claimsOf;
    this.#run = run;
  }

  add(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const claims = this.#claimsOf(request);
      const waiting = { request, claims, since: performance.now(), resolve, reject };
      if (this.#lockedRows.has(claims.row)) {
        this.#lockOut(waiting);
        return;
      }
      if (this.#waiting.length >= maxWaiting) {
        reject(new StoreUnavailableError('the database is too slow for the load'));
        return;
      }
      this.#waiting.push(waiting);
      if (this.#waiting.length === 1) void nextTurn().then(() => this.#start());
    });
  }

  #start(): void {
    while (this.#underWay < (this.#waiting.length < maxGroup ? maxUnderWay : maxUnderWayIfFull)) {
      const tooLate = () => new StoreUnavailableError('the database did not answer in time');
      const { group, left } = this.#take(this.#waiting, tooLate);
      this.#waiting = left;
      if (group.length === 0) return;
      this.#underWay += 1;
      void this.#carryOut(group).then((locked) => {
        this.#underWay -= 1;
        for (const waiting of locked) this.#lockOut(waiting);
        this.#start();
      });
    }
  }

  /** The first requests that may be under way now, and the others; those that waited too long are refused. */
  #take(from: readonly Waiting<Request, Outcome>[], tooLate: () => StoreUnavailableError) {
    const taken = new Set<string>();
    const group: Waiting<Request, Outcome>[] = [];
    const left: Waiting<Request, Outcome>[] = [];
    const oldest = performance.now() - maxWaitMs;
    for (const waiting of from) {
      if (waiting.since < oldest) {
        waiting.reject(tooLate());
        continue;
      }
      const { alone, row } = waiting.claims;
      const isClaimed = [...alone, row].some((key) => this.#claimed.has(key));
      if (group.length >= maxGroup || isClaimed || alone.some((key) => taken.has(key))) {
        left.push(waiting);
        continue;
      }
      for (const key of alone) taken.add(key);
      group.push(waiting);
    }
    return { group, left };
  }

  /** Keeps a request until its row is free. */
  #lockOut(waiting: Waiting<Request, Outcome>): void {
    const { row } = waiting.claims;
    const count = this.#lockedRows.get(row) ?? 0;
    if (count >= maxLockedOut || this.#lockedOut.length >= maxWaiting) {
      waiting.reject(new RowLockedError());
      return;
    }
    this.#lockedRows.set(row, count + 1);
    this.#lockedOut.push(waiting);
    if (!this.#isTrying) void this.#tryLocked();
  }

  /** Tries the requests of locked rows again, beside the groups, until there are none. */
  async #tryLocked(): Promise<void> {
    this.#isTrying = true;
    for (let pauseMs = firstPauseMs; this.#lockedOut.length > 0; ) {
      await wait(pauseMs);
      const { group, left } = this.#take(this.#lockedOut, () => new RowLockedError());
      this.#lockedOut = left;
      const locked = group.length === 0 ? [] : await this.#carryOut(group);
      // Behind the others: a long list is tried in turn.
      this.#lockedOut.push(...locked);
      this.#lockedRows.clear();
      for (const { claims } of this.#lockedOut) {
        this.#lockedRows.set(claims.row, (this.#lockedRows.get(claims.row) ?? 0) + 1);
      }
      pauseMs = locked.length < group.length ? firstPauseMs : Math.min(2 * pauseMs, longestPauseMs);
      this.#start();
    }
    this.#isTrying = false;
  }

  /**
   * Returns the requests whose rows were locked. Never rejects. If a group fails because of one of its requests, each is
   * carried out by itself.
   */
  async #carryOut(group: readonly Waiting<Request, Outcome>[]): Promise<Waiting<Request, Outcome>[]> {
    const claimed = group.flatMap(({ claims }) => [...claims.alone, claims.row]);
    for (const key of claimed) this.#claimed.add(key);
    const locked: Waiting<Request, Outcome>[] = [];
    try {
      const outcomes = await this.#run(group.map(({ request }) => request));
      sharedTransactions.publish(group.length);
      const pause = pauses();
      for (const [index, waiting] of group.entries()) {
        const outcome = outcomes[index] as Outcome | typeof rowLocked;
        if (outcome === rowLocked) locked.push(waiting);
        else waiting.resolve(outcome);
        await pause();
      }
    } catch (error) {
      if (group.length > 1 && !(error instanceof StoreUnavailableError)) {
        for (const waiting of group) locked.push(...(await this.#carryOut([waiting])));
      } else {
        for (const { reject } of group) reject(error);
      }
    } finally {
      for (const key of claimed) this.#claimed.delete(key);
    }
    return locked;
  }
}

/**
 * The requests of a group, `$1` their tenant: their apps, compared with the tables ($2 to $4, each once), and for each
 * request the number of its app ($5) and its random ($6); `$7` and `$8` are the latest and the earliest time that it may be.
 *
 * All parts of a key come from one materialized list: with statistics that are old, PostgreSQL would else read all rows
 * of a tenant.
 */
const usableRequests = `
  known AS (
    SELECT given.n, apps.tenant_code, given.app_key
    FROM unnest($2::text[], $3::text[], $4::bigint[])
      WITH ORDINALITY AS given (app_key, channel, revision, n)
    JOIN apps ON apps.app_key = given.app_key AND apps.tenant_code = $1
      AND apps.channel = given.channel AND apps.revision = given.revision),
  usable AS MATERIALIZED (SELECT asked.*, known.tenant_code, known.app_key FROM asked JOIN known ON known.n = asked.app)`;

/**
 * Uses up the randoms of the requests in `tried` whose row is not locked by another transaction; `fresh` has those whose
 * random was not used before. The rows are locked first: no transaction waits for a row and keeps a random meanwhile.
 * Randoms are locked in the order of their keys, so that groups of several processes do not deadlock.
 */
const useRandoms = `
  used AS (
    INSERT INTO nonces (tenant_code, app_key, random, expires_at)
    SELECT tenant_code, app_key, random, ${keptUntil('$7::bigint')} FROM tried
    WHERE NOT is_locked ORDER BY app_key, random
    ON CONFLICT (tenant_code, app_key, random)
      DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at < ${expiredBefore('$8::bigint')}
    RETURNING app_key, random),
  fresh AS MATERIALIZED (
    SELECT tried.* FROM tried JOIN used ON used.random = tried.random AND used.app_key = tried.app_key)`;

/** One row for each request whose app is as given; `$9` has the codes. */
const readGroup = `
  WITH asked AS (
    SELECT * FROM unnest($5::int[], $6::text[], $9::text[]) WITH ORDINALITY AS asked (app, random, code, n)),
  ${usableRequests},
  locked AS MATERIALIZED (
    SELECT code, union_id FROM codes WHERE (tenant_code, code) IN (SELECT tenant_code, code FROM usable)
    ORDER BY code FOR NO KEY UPDATE SKIP LOCKED),
  tried AS MATERIALIZED (
    SELECT usable.*, locked.union_id, locked.code IS NULL AND (
      SELECT 1 FROM codes WHERE codes.tenant_code = usable.tenant_code AND codes.code = usable.code
    ) IS NOT NULL AS is_locked
    FROM usable LEFT JOIN locked ON locked.code = usable.code),
  ${useRandoms},
  taken AS (
    UPDATE codes SET uses_left = codes.uses_left - 1
    FROM (SELECT n, tenant_code, code FROM fresh ORDER BY code) AS sorted
    WHERE codes.tenant_code = sorted.tenant_code AND codes.code = sorted.code
      AND codes.expires_at + 0 > unixepoch() AND (codes.uses_left IS NULL OR codes.uses_left > 0)
    RETURNING sorted.n, codes.tenant_code, codes.union_id, codes.info_names)
  SELECT tried.n, tried.is_locked::int AS is_locked, fresh.n AS fresh, tried.union_id, taken.info_names, users.record
  FROM tried LEFT JOIN fresh ON fresh.n = tried.n LEFT JOIN taken ON taken.n = tried.n
    LEFT JOIN users ON users.tenant_code = taken.tenant_code AND users.union_id = taken.union_id`;

/** The same with the users, which it locks: `$9` has their IDs, `$10` digests of their values, one of them null. */
const lockGroup = `
  WITH asked AS (
    SELECT * FROM unnest($5::int[], $6::text[], $9::text[], $10::text[])
      WITH ORDINALITY AS asked (app, random, union_id, digest, n)),
  ${usableRequests},
  named AS MATERIALIZED (
    SELECT usable.n, usable.tenant_code, usable.app_key, usable.random,
      COALESCE(usable.union_id, found.union_id) AS union_id, found.others
    FROM usable, LATERAL (
      SELECT MIN(two.union_id) AS union_id, COUNT(*) - 1 AS others FROM (
        SELECT user_values.union_id FROM user_values
        WHERE user_values.tenant_code = usable.tenant_code AND user_values.digest = usable.digest LIMIT 2) AS two) AS found),
  locked AS MATERIALIZED (
    SELECT union_id, record FROM users
    WHERE (tenant_code, union_id) IN (SELECT tenant_code, union_id FROM named WHERE others <= 0)
    ORDER BY union_id FOR NO KEY UPDATE SKIP LOCKED),
  tried AS MATERIALIZED (
    SELECT named.*, locked.record, named.others <= 0 AND locked.union_id IS NULL AND (
      SELECT 1 FROM users WHERE users.tenant_code = named.tenant_code AND users.union_id = named.union_id
    ) IS NOT NULL AS is_locked
    FROM named LEFT JOIN locked ON locked.union_id = named.union_id),
  ${useRandoms}
  SELECT tried.n, tried.is_locked::int AS is_locked, fresh.n AS fresh, tried.others, tried.union_id, tried.record
  FROM tried LEFT JOIN fresh ON fresh.n = tried.n`;

/** Stores the records of users `$2`, removes values of users `$4` and adds values of users `$6`. */
const storeGroup = `
  WITH stored AS MATERIALIZED (
    SELECT $1::text AS tenant_code, * FROM unnest($2::text[], $3::text[]) AS given (union_id, record)),
  lost AS MATERIALIZED (
    SELECT $1::text AS tenant_code, * FROM unnest($4::text[], $5::text[]) AS given (union_id, digest)),
  changed AS (
    UPDATE users SET record = stored.record, revision = users.revision + 1 FROM stored
    WHERE users.tenant_code = stored.tenant_code AND users.union_id = stored.union_id),
  removed AS (
    DELETE FROM user_values USING lost
    WHERE user_values.tenant_code = lost.tenant_code AND user_values.digest = lost.digest
      AND user_values.union_id = lost.union_id)
  INSERT INTO user_values (tenant_code, union_id, digest)
  SELECT $1, given.union_id, given.digest FROM unnest($6::text[], $7::text[]) AS given (union_id, digest)
  ON CONFLICT (tenant_code, digest, union_id) DO NOTHING`;

/** For the test of their plans. */
export const groupStatements = { readGroup, lockGroup, storeGroup };

/**
 * The two operations, in groups of the requests of an app: one transaction each, so that no app waits for the groups of
 * another.
 */
export class PostgresGroups {
  readonly #driver: SqlDriver;
  readonly read = ofEachApp<ReadRequest, ReadResult>(
    (one) => {
      // Without a code there is no row to lock.
      const row = `code ${one.code ?? one.random}`;
      return { alone: [nonceKey(one), row], row };
    },
    (group) => this.#read(group),
  );
  readonly passBack = ofEachApp<PassbackRequest, PassbackResult>(
    (one) => ({ alone: [nonceKey(one)], row: JSON.stringify(one.user) }),
    (group) => this.#passBack(group),
  );

  constructor(driver: SqlDriver) {
    this.#driver = driver;
  }

  async #read(requests: readonly ReadRequest[]): Promise<(ReadResult | typeof rowLocked)[]> {
    const values = [...valuesOf(requests), requests.map(({ code }) => code)];
    const rows = byNumber(await this.#driver.writeOnce(readGroup, values));
    const outcomes: (ReadResult | typeof rowLocked)[] = [];
    const pause = pauses();
    for (const [index] of requests.entries()) {
      outcomes.push(readOutcome(rows.get(index + 1)));
      await pause();
    }
    return outcomes;
  }

  #passBack(requests: readonly PassbackRequest[]): Promise<(PassbackResult | typeof rowLocked)[]> {
    const tenant = requests[0]?.app.tenant_code ?? '';
    const values = [
      ...valuesOf(requests),
      requests.map(({ user }) => (user.by === 'union_id' ? user.unionId : null)),
      requests.map(({ user }) => (user.by === 'primary_key' ? valueDigest(user.name, user.value) : null)),
    ];
    return this.#driver.write(async (sql) => {
      const rows = byNumber(await sql.all(lockGroup, values));
      const changes = new Changes();
      const outcomes: (PassbackResult | typeof rowLocked)[] = [];
      const toGiveBack: PassbackRequest[] = [];
      const pause = pauses();
      for (const [index, request] of requests.entries()) {
        const outcome = changes.apply(request, rows.get(index + 1));
        // Another process, or another request of the group, took the value from the user that was found: it is looked
        // up anew, and nobody waits for the row of another user while he keeps those of a group.
        if (outcome === null) toGiveBack.push(request);
        outcomes.push(outcome ?? rowLocked);
        await pause();
      }
      if (changes.count > 0) await sql.run(storeGroup, [tenant, ...(await changes.values(pause))]);
      const randoms = toGiveBack.map((one) => [tenant, one.app.app_key, one.random] as const);
      if (randoms.length > 0) await sql.each(rowStatements.removeNonce, randoms);
      return outcomes;
    });
  }
}

function readOutcome(row: SqlRow | undefined): ReadResult | typeof rowLocked {
  if (row === undefined) return 'app changed';
  if (row.is_locked === 1) return rowLocked;
  if (row.fresh === null) return 'random used';
  if (row.record === null) {
    return { record: null, unionId: row.union_id === null ? null : String(row.union_id) };
  }
  const infoNames = row.info_names === null ? null : splitInfoNames(String(row.info_names));
  return { record: toRecord(row.record), infoNames };
}

/** The users that a group has locked, changed by its requests one after the other. */
class Changes {
  readonly #users = new Map<string, { readonly before: UserRecord; now: UserRecord }>();

  get count(): number {
    return this.#users.size;
  }

  /** `null` if the user that was found has lost the value by which it was found. */
  apply(
    { user, change }: PassbackRequest,
    row: SqlRow | undefined,
  ): PassbackResult | typeof rowLocked | null {
    if (row === undefined) return 'app changed';
    if (row.is_locked === 1) return rowLocked;
    if (row.fresh === null) return 'random used';
    if (Number(row.others) > 0) return 'several users';
    if (row.record === null) return 'no user';
    const unionId = String(row.union_id);
    const found = this.#users.get(unionId);
    const now = found?.now ?? toRecord(row.record);
    if (user.by === 'primary_key' && !hasValue(now, user)) return null;
    const changed = tryChange(change, now);
    if (changed instanceof UserInfoError) return changed;
    this.#users.set(unionId, { before: found?.before ?? now, now: changed });
    return changed;
  }

  /** The values of `storeGroup` after the tenant. `pause` is called after each user. */
  async values(pause: () => Promise<void>): Promise<SqlParameter[]> {
    const users: ({ unionId: string; record: string } & ReturnType<typeof changedDigests>)[] = [];
    for (const [unionId, { before, now }] of this.#users) {
      users.push({ unionId, record: JSON.stringify(now), ...changedDigests(before, now) });
      await pause();
    }
    const pairs = (name: 'removed' | 'added') =>
      users.flatMap((user) => user[name].map((digest): [string, string] => [user.unionId, digest]));
    const records = users.map(({ unionId, record }): [string, string] => [unionId, record]);
    return [records, pairs('removed'), pairs('added')].flatMap((rows) => [
      rows.map(([unionId]) => unionId),
      rows.map(([, value]) => value),
    ]);
  }
}

function ofEachApp<Request extends AppRequest, Outcome>(
  ...settings: ConstructorParameters<typeof Groups<Request, Outcome>>
): (request: Request) => Promise<Outcome> {
  const apps = new Map<string, Groups<Request, Outcome>>();
  return (request) => {
    const key = JSON.stringify([request.app.tenant_code, request.app.app_key]);
    const groups = apps.get(key) ?? new Groups(...settings);
    apps.set(key, groups);
    return groups.add(request);
  };
}

function nonceKey({ app, random }: AppRequest): string {
  return `nonce ${app.app_key} ${random}`;
}

/** `$1` to `$8` of a group. */
function valuesOf(requests: readonly AppRequest[]): SqlParameter[] {
  const { latest, earliest } = possibleTimes();
  const apps = [...new Set(requests.map(({ app }) => app))];
  const numbers = new Map<App, number>(apps.map((app, index) => [app, index + 1]));
  return [
    apps[0]?.tenant_code ?? '',
    apps.map(({ app_key }) => app_key),
    apps.map(({ channel }) => channel),
    apps.map(({ revision }) => revision),
    requests.map(({ app }) => numbers.get(app) ?? 0),
    requests.map(({ random }) => random),
    latest,
    earliest,
  ];
}

/** The rows by the number of their request, from 1. */
function byNumber(rows: readonly SqlRow[]): Map<number, SqlRow> {
  return new Map(rows.map((row) => [Number(row.n), row]));
}
