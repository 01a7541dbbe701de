// SQL of PostgreSQL alone: arrays, FOR UPDATE and several changes in one statement have no equal in SQLite, where a
// statement costs too little to share one.
import type { SqlDriver, SqlParameter, SqlRow } from '../../database/sql-driver.js';
import { UserInfoError } from '../../protocol/errors.js';
import { splitInfoNames } from '../../protocol/info-names.js';
import type { UserRecord } from '../../protocol/user-record.js';
import { pauses } from '../../support/fair-queue.js';
import type { App } from './apps.js';
import { expiredBefore, keptUntil, possibleTimes } from './clock.js';
import { Groups, rowLocked } from './group-commit.js';
import type { AppRequest, PassbackRequest, PassbackResult, ReadRequest, ReadResult } from './operations.js';
import { isIndexed } from './statements.js';
import { changedValues, hasValue, isFindable, toRecord, tryChange, valueDigest } from './users.js';

/**
 * The requests of a group: their apps, compared with the tables ($2 to $4, each once), and for each request the number
 * of its app ($5) and its random ($6); `$7` and `$8` are the latest and the earliest time that it may be.
 *
 * `$1` is the tenant, and stands at each table by itself: an engine that distributes the tables by tenant finds the place
 * of a statement before it runs. No row is found by a join with a table: with statistics that are old, PostgreSQL would
 * read all rows of a tenant for it. It is a key that conflicts, or a sub-select that returns it.
 */
const usableRequests = `
  known AS (
    SELECT given.n, given.app_key
    FROM unnest($2::text[], $3::text[], $4::bigint[])
      WITH ORDINALITY AS given (app_key, channel, revision, n)
    JOIN apps ON apps.app_key = given.app_key AND apps.tenant_code = $1
      AND apps.channel = given.channel AND apps.revision = given.revision),
  usable AS MATERIALIZED (SELECT asked.*, known.app_key FROM asked JOIN known ON known.n = asked.app)`;

/**
 * Uses up the randoms of the requests in `tried` whose row is not locked by another transaction; `fresh` has those
 * whose random was not used before. The rows are locked first: no transaction waits for a row and keeps a random
 * meanwhile. Randoms are locked in the order of their keys, so that groups of several processes do not deadlock.
 */
const useRandoms = `
  used AS (
    INSERT INTO nonces (tenant_code, app_key, random, expires_at)
    SELECT $1, app_key, random, ${keptUntil('$7::bigint')} FROM tried
    WHERE NOT is_locked ORDER BY app_key, random
    ON CONFLICT (tenant_code, app_key, random)
      DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at < ${expiredBefore('$8::bigint')}
    RETURNING app_key, random),
  fresh AS MATERIALIZED (
    SELECT tried.* FROM tried JOIN used ON used.random = tried.random AND used.app_key = tried.app_key)`;

/** One row for each request whose app is as given; `$9` has the codes, each once. */
const readGroup = `
  WITH asked AS (
    SELECT * FROM unnest($5::int[], $6::text[], $9::text[]) WITH ORDINALITY AS asked (app, random, code, n)),
  ${usableRequests},
  locked AS MATERIALIZED (
    SELECT one.* FROM (SELECT code FROM usable ORDER BY code) AS given, LATERAL (
      SELECT code, union_id FROM codes WHERE tenant_code = $1 AND code = given.code
      FOR NO KEY UPDATE SKIP LOCKED) AS one),
  tried AS MATERIALIZED (
    SELECT usable.*, locked.union_id, locked.code IS NULL AND (
      SELECT 1 FROM codes WHERE codes.tenant_code = $1 AND codes.code = usable.code
    ) IS NOT NULL AS is_locked
    FROM usable LEFT JOIN locked ON locked.code = usable.code),
  ${useRandoms},
  taken AS (
    INSERT INTO codes (tenant_code, code, union_id, expires_at)
    SELECT $1, code, union_id, 0 FROM fresh WHERE union_id IS NOT NULL ORDER BY code
    ON CONFLICT (tenant_code, code) DO UPDATE SET uses_left = codes.uses_left - 1
      WHERE codes.expires_at > unixepoch() AND (codes.uses_left IS NULL OR codes.uses_left > 0)
    RETURNING code, union_id, info_names)
  SELECT tried.n, tried.is_locked::int AS is_locked, fresh.n AS fresh, tried.union_id, taken.info_names, (
      SELECT record FROM users WHERE users.tenant_code = $1 AND users.union_id = taken.union_id) AS record
  FROM tried LEFT JOIN fresh ON fresh.n = tried.n LEFT JOIN taken ON taken.code = fresh.code`;

/** The same with the users, which it locks: `$9` has their IDs, `$10` digests of their values, one of them null. */
const lockGroup = `
  WITH asked AS (
    SELECT * FROM unnest($5::int[], $6::text[], $9::text[], $10::text[])
      WITH ORDINALITY AS asked (app, random, union_id, digest, n)),
  ${usableRequests},
  named AS MATERIALIZED (
    SELECT usable.n, usable.app_key, usable.random, COALESCE(usable.union_id, found.union_id) AS union_id, found.others
    FROM usable, LATERAL (
      SELECT MIN(two.union_id) AS union_id, COUNT(*) - 1 AS others FROM (
        SELECT user_values.union_id FROM user_values
        WHERE user_values.tenant_code = $1 AND user_values.digest = usable.digest LIMIT 2) AS two) AS found),
  locked AS MATERIALIZED (
    SELECT one.* FROM (SELECT DISTINCT union_id FROM named WHERE others <= 0 ORDER BY union_id) AS given, LATERAL (
      SELECT union_id, record FROM users WHERE tenant_code = $1 AND union_id = given.union_id
      FOR NO KEY UPDATE SKIP LOCKED) AS one),
  tried AS MATERIALIZED (
    SELECT named.*, locked.record, named.others <= 0 AND locked.union_id IS NULL AND (
      SELECT 1 FROM users WHERE users.tenant_code = $1 AND users.union_id = named.union_id
    ) IS NOT NULL AS is_locked
    FROM named LEFT JOIN locked ON locked.union_id = named.union_id),
  ${useRandoms}
  SELECT tried.n, tried.is_locked::int AS is_locked, fresh.n AS fresh, tried.others, tried.union_id, tried.record, (
      SELECT findable FROM tenants WHERE tenant_code = $1) AS findable
  FROM tried LEFT JOIN fresh ON fresh.n = tried.n`;

/**
 * Stores the records of users `$2`, who are locked, removes values of users `$4` and adds values of users `$6`, whose
 * keys are `$8`.
 */
const storeGroup = `
  WITH changed AS (
    INSERT INTO users (tenant_code, union_id, record, revision)
    SELECT $1, given.union_id, given.record, 1 FROM unnest($2::text[], $3::text[]) AS given (union_id, record)
    ON CONFLICT (tenant_code, union_id) DO UPDATE SET record = excluded.record, revision = users.revision + 1),
  lost AS MATERIALIZED (SELECT * FROM unnest($4::text[], $5::text[]) AS given (union_id, digest)),
  removed AS (
    DELETE FROM user_values USING lost
    WHERE user_values.tenant_code = $1 AND user_values.digest = lost.digest AND user_values.union_id = lost.union_id)
  INSERT INTO user_values (tenant_code, union_id, digest)
  SELECT $1, given.union_id, given.digest
  FROM unnest($6::text[], $7::text[], $8::text[]) AS given (union_id, digest, name) WHERE ${isIndexed('$1')}
  ON CONFLICT (tenant_code, digest, union_id) DO NOTHING`;

/** Makes randoms `$3` of an app `$2` as good as new. */
const giveBack = 'DELETE FROM nonces WHERE tenant_code = $1 AND app_key = $2 AND random = ANY ($3::text[])';

/** For the test of their plans. */
export const groupStatements = { readGroup, lockGroup, storeGroup, giveBack };

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
      return { alone: [`random ${one.random}`, row], row };
    },
    (group) => this.#read(group),
  );
  readonly passBack = ofEachApp<PassbackRequest, PassbackResult>(
    ({ random, user }) => ({ alone: [`random ${random}`], row: JSON.stringify(user) }),
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
    const { tenant_code: tenant = '', app_key: appKey = '' } = requests[0]?.app ?? {};
    const values = [
      ...valuesOf(requests),
      requests.map(({ user }) => (user.by === 'union_id' ? user.unionId : null)),
      requests.map(({ user }) => (user.by === 'primary_key' ? valueDigest(user.name, user.value) : null)),
    ];
    return this.#driver.write(async (sql) => {
      const rows = byNumber(await sql.all(lockGroup, values));
      const changes = new Changes();
      const outcomes: (PassbackResult | typeof rowLocked)[] = [];
      const toGiveBack: string[] = [];
      const pause = pauses();
      for (const [index, request] of requests.entries()) {
        const outcome = changes.apply(request, rows.get(index + 1));
        // Another process, or another request of the group, took the value from the user that was found: it is looked
        // up anew, and nobody waits for the row of another user while he keeps those of a group.
        if (outcome === null) toGiveBack.push(request.random);
        outcomes.push(outcome ?? rowLocked);
        await pause();
      }
      if (changes.count > 0) await sql.run(storeGroup, [tenant, ...(await changes.values(pause))]);
      if (toGiveBack.length > 0) await sql.run(giveBack, [tenant, appKey, toGiveBack]);
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
    if (user.by === 'primary_key' && !isFindable(row, user.name)) return 'not findable';
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
    const users: { unionId: string; record: string }[] = [];
    const removed: { unionId: string; digest: string }[] = [];
    const added: { unionId: string; digest: string; name: string }[] = [];
    for (const [unionId, { before, now }] of this.#users) {
      const changed = changedValues(before, now);
      users.push({ unionId, record: JSON.stringify(now) });
      removed.push(...changed.removed.map((value) => ({ unionId, ...value })));
      added.push(...changed.added.map((value) => ({ unionId, ...value })));
      await pause();
    }
    return [
      users.map(({ unionId }) => unionId),
      users.map(({ record }) => record),
      removed.map(({ unionId }) => unionId),
      removed.map(({ digest }) => digest),
      added.map(({ unionId }) => unionId),
      added.map(({ digest }) => digest),
      added.map(({ name }) => name),
    ];
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
