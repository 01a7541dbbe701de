// SQL of PostgreSQL alone: arrays, FOR UPDATE and several changes in one statement have no equal in SQLite, where a
// statement costs too little to share one.
import { setImmediate as nextTurn } from 'node:timers/promises';
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
import { type App, nonceSeconds } from './apps.js';
import type { AppRequest, PassbackOutcome, PassbackRequest, ReadOutcome, ReadRequest } from './operations.js';
import { changedDigests, hasValue, toRecord, tryChange, Users, valueDigest } from './users.js';

/** Maximum number of requests in a group. */
const maxGroup = 64;

/** Maximum number of groups of one app and operation under way: while they run, the next one fills. */
const maxUnderWay = 2;

/** The same if the next one is full. */
const maxUnderWayIfFull = 4;

/** Maximum number of waiting requests of one app and operation: further ones are refused. */
const maxWaiting = 16 * maxGroup;

/** Maximum wait for a group, in milliseconds. */
const maxWaitMs = 5000;

/** A request that waits for its outcome. */
interface Waiting<Request, Outcome> {
  readonly request: Request;
  /** By the monotonic clock. */
  readonly since: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Forms groups of the requests that arrive in one turn of the event loop, or while other groups are under way. */
class Groups<Request, Outcome> {
  #waiting: Waiting<Request, Outcome>[] = [];
  #underWay = 0;
  readonly #keysOf: (request: Request) => readonly string[];
  readonly #run: (requests: readonly Request[]) => Promise<readonly Outcome[]>;

  /** Two requests with a key in common are never in one group; the second waits. */
  constructor(
    keysOf: (request: Request) => readonly string[],
    run: (requests: readonly Request[]) => Promise<readonly Outcome[]>,
  ) {
    this.#keysOf = keysOf;
    this.#run = run;
  }

  add(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= maxWaiting) {
        reject(new StoreUnavailableError('the database is too slow for the load'));
        return;
      }
      this.#waiting.push({ request, since: performance.now(), resolve, reject });
      if (this.#waiting.length === 1) void nextTurn().then(() => this.#start());
    });
  }

  #start(): void {
    while (this.#underWay < (this.#waiting.length < maxGroup ? maxUnderWay : maxUnderWayIfFull)) {
      const group = this.#take();
      if (group.length === 0) return;
      this.#underWay += 1;
      void this.#carryOut(group).then(() => {
        this.#underWay -= 1;
        this.#start();
      });
    }
  }

  #take(): Waiting<Request, Outcome>[] {
    const taken = new Set<string>();
    const group: Waiting<Request, Outcome>[] = [];
    const left: Waiting<Request, Outcome>[] = [];
    const oldest = performance.now() - maxWaitMs;
    for (const waiting of this.#waiting) {
      if (waiting.since < oldest) {
        waiting.reject(new StoreUnavailableError('the database did not answer in time'));
        continue;
      }
      const keys = group.length < maxGroup ? this.#keysOf(waiting.request) : [];
      if (keys.length === 0 || keys.some((key) => taken.has(key))) {
        left.push(waiting);
        continue;
      }
      for (const key of keys) taken.add(key);
      group.push(waiting);
    }
    this.#waiting = left;
    return group;
  }

  /** Never rejects. If a group fails because of one of its requests, each is carried out by itself. */
  async #carryOut(group: readonly Waiting<Request, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#run(group.map(({ request }) => request));
      sharedTransactions.publish(group.length);
      const pause = pauses();
      for (const [index, { resolve }] of group.entries()) {
        resolve(outcomes[index] as Outcome);
        await pause();
      }
    } catch (error) {
      if (group.length > 1 && !(error instanceof StoreUnavailableError)) {
        for (const waiting of group) await this.#carryOut([waiting]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }
}

/**
 * The requests of a group, `$1` their tenant: their apps, compared with the tables ($2 to $4, each once), and for each
 * request the number of its app ($5) and its random ($6). `fresh` has those that were not used before.
 *
 * Rows are locked in the order of their keys, so that groups of several processes do not deadlock. All parts of a key
 * come from one materialized list: with statistics that are old, PostgreSQL would else read all rows of a tenant.
 */
const useRandoms = `
  known AS (
    SELECT given.n, apps.tenant_code, given.app_key
    FROM unnest($2::text[], $3::text[], $4::bigint[])
      WITH ORDINALITY AS given (app_key, channel, revision, n)
    JOIN apps ON apps.app_key = given.app_key AND apps.tenant_code = $1
      AND apps.channel = given.channel AND apps.revision = given.revision),
  usable AS MATERIALIZED (SELECT asked.*, known.tenant_code, known.app_key FROM asked JOIN known ON known.n = asked.app),
  used AS (
    INSERT INTO nonces (tenant_code, app_key, random, expires_at)
    SELECT tenant_code, app_key, random, unixepoch() + ${nonceSeconds} FROM usable ORDER BY app_key, random
    ON CONFLICT (tenant_code, app_key, random)
      DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at < unixepoch()
    RETURNING app_key, random),
  fresh AS MATERIALIZED (
    SELECT usable.* FROM usable JOIN used ON used.random = usable.random AND used.app_key = usable.app_key)`;

/** One row for each request whose app is as given; `$7` has the codes. */
const readGroup = `
  WITH asked AS (
    SELECT * FROM unnest($5::int[], $6::text[], $7::text[]) WITH ORDINALITY AS asked (app, random, code, n)),
  ${useRandoms},
  taken AS (
    UPDATE codes SET uses_left = codes.uses_left - 1
    FROM (SELECT n, tenant_code, code FROM fresh ORDER BY code) AS sorted
    WHERE codes.tenant_code = sorted.tenant_code AND codes.code = sorted.code
      AND codes.expires_at + 0 > unixepoch() AND (codes.uses_left IS NULL OR codes.uses_left > 0)
    RETURNING sorted.n, codes.tenant_code, codes.union_id, codes.info_names)
  SELECT usable.n, fresh.n AS fresh, taken.info_names, users.record
  FROM usable LEFT JOIN fresh ON fresh.n = usable.n LEFT JOIN taken ON taken.n = usable.n
    LEFT JOIN users ON users.tenant_code = taken.tenant_code AND users.union_id = taken.union_id`;

/** The same with the users, which it locks: `$7` has their IDs, `$8` digests of their values, one of them null. */
const lockGroup = `
  WITH asked AS (
    SELECT * FROM unnest($5::int[], $6::text[], $7::text[], $8::text[])
      WITH ORDINALITY AS asked (app, random, union_id, digest, n)),
  ${useRandoms},
  named AS MATERIALIZED (
    SELECT fresh.n, fresh.tenant_code, COALESCE(fresh.union_id, found.union_id) AS union_id, found.others
    FROM fresh, LATERAL (
      SELECT MIN(two.union_id) AS union_id, COUNT(*) - 1 AS others FROM (
        SELECT user_values.union_id FROM user_values
        WHERE user_values.tenant_code = fresh.tenant_code AND user_values.digest = fresh.digest LIMIT 2) AS two) AS found),
  locked AS MATERIALIZED (
    SELECT union_id, record FROM users
    WHERE (tenant_code, union_id) IN (SELECT tenant_code, union_id FROM named WHERE others <= 0)
    ORDER BY union_id FOR UPDATE)
  SELECT usable.n, named.n AS fresh, named.others, locked.union_id, locked.record
  FROM usable LEFT JOIN named ON named.n = usable.n LEFT JOIN locked ON locked.union_id = named.union_id`;

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
  readonly read = ofEachApp<ReadRequest, ReadOutcome>(
    (one) => [nonceKey(one), ...(one.code === null ? [] : [`code ${one.code}`])],
    (group) => this.#read(group),
  );
  readonly passBack = ofEachApp<PassbackRequest, PassbackOutcome>(
    (one) => [nonceKey(one)],
    (group) => this.#passBack(group),
  );

  constructor(driver: SqlDriver) {
    this.#driver = driver;
  }

  async #read(requests: readonly ReadRequest[]): Promise<ReadOutcome[]> {
    const values = [...valuesOf(requests), requests.map(({ code }) => code)];
    const rows = byNumber(await this.#driver.writeOnce(readGroup, values));
    const outcomes: ReadOutcome[] = [];
    const pause = pauses();
    for (const [index] of requests.entries()) {
      outcomes.push(readOutcome(rows.get(index + 1)));
      await pause();
    }
    return outcomes;
  }

  #passBack(requests: readonly PassbackRequest[]): Promise<PassbackOutcome[]> {
    const tenant = requests[0]?.app.tenant_code ?? '';
    const values = [
      ...valuesOf(requests),
      requests.map(({ user }) => (user.by === 'union_id' ? user.unionId : null)),
      requests.map(({ user }) => (user.by === 'primary_key' ? valueDigest(user.name, user.value) : null)),
    ];
    return this.#driver.write(async (sql) => {
      const rows = byNumber(await sql.all(lockGroup, values));
      const changes = new Changes();
      const outcomes: (PassbackOutcome | null)[] = [];
      const pause = pauses();
      for (const [index, request] of requests.entries()) {
        outcomes.push(changes.apply(request, rows.get(index + 1)));
        await pause();
      }
      if (changes.count > 0) await sql.run(storeGroup, [tenant, ...(await changes.values(pause))]);
      for (const [index, { app, user, change }] of requests.entries()) {
        // Another process, or another request of the group, took the value from the user that was found.
        outcomes[index] ??= await new Users(sql).change(app.tenant_code, user, change);
      }
      return outcomes as PassbackOutcome[];
    });
  }
}

function readOutcome(row: SqlRow | undefined): ReadOutcome {
  if (row === undefined) return 'app changed';
  if (row.fresh === null) return 'random used';
  if (row.record === null) return 'no code';
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
  apply({ user, change }: PassbackRequest, row: SqlRow | undefined): PassbackOutcome | null {
    if (row === undefined) return 'app changed';
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

/** `$1` to `$6` of a group. */
function valuesOf(requests: readonly AppRequest[]): SqlParameter[] {
  const apps = [...new Set(requests.map(({ app }) => app))];
  const numbers = new Map<App, number>(apps.map((app, index) => [app, index + 1]));
  return [
    apps[0]?.tenant_code ?? '',
    apps.map(({ app_key }) => app_key),
    apps.map(({ channel }) => channel),
    apps.map(({ revision }) => revision),
    requests.map(({ app }) => numbers.get(app) ?? 0),
    requests.map(({ random }) => random),
  ];
}

/** The rows by the number of their request, from 1. */
function byNumber(rows: readonly SqlRow[]): Map<number, SqlRow> {
  return new Map(rows.map((row) => [Number(row.n), row]));
}
