import type { Schema } from '../database/migrations.js';
import { oneLine } from '../database/sql-driver.js';

/**
 * The tables of the store. Those of short rows that are found by their primary key have no second
 * copy of it in SQLite (`WITHOUT ROWID`).
 */
export const storeSchema: Schema = {
  table: 'userinfo_migrations',
  owner: 'the service',
  steps: [
    [
      oneLine`
        CREATE TABLE apps (
          app_key TEXT NOT NULL PRIMARY KEY,
          app_secret TEXT NOT NULL,
          tenant_code TEXT NOT NULL,
          channel TEXT NOT NULL,
          recipes TEXT,
          created_at BIGINT NOT NULL,
          old_secret TEXT,
          old_until BIGINT NOT NULL DEFAULT 0,
          disabled BIGINT NOT NULL DEFAULT 0,
          revision BIGINT NOT NULL DEFAULT 0
        )`,
      oneLine`
        CREATE TABLE users (
          tenant_code TEXT NOT NULL,
          union_id TEXT NOT NULL,
          record TEXT NOT NULL,
          revision BIGINT NOT NULL,
          PRIMARY KEY (tenant_code, union_id)
        )`,
      oneLine`
        CREATE TABLE user_values (
          tenant_code TEXT NOT NULL,
          digest TEXT NOT NULL,
          union_id TEXT NOT NULL,
          PRIMARY KEY (tenant_code, digest, union_id)
        ) WITHOUT ROWID`,
      oneLine`
        CREATE TABLE codes (
          tenant_code TEXT NOT NULL,
          code TEXT NOT NULL,
          union_id TEXT NOT NULL,
          info_names TEXT,
          expires_at BIGINT NOT NULL,
          uses_left BIGINT,
          PRIMARY KEY (tenant_code, code)
        ) WITHOUT ROWID`,
      // It begins with the user: a statement that names a code cannot use it instead of the key.
      'CREATE INDEX codes_by_user ON codes (union_id, tenant_code)',
      'CREATE INDEX codes_by_expiry ON codes (expires_at)',
      oneLine`
        CREATE TABLE nonces (
          tenant_code TEXT NOT NULL,
          app_key TEXT NOT NULL,
          random TEXT NOT NULL,
          expires_at BIGINT NOT NULL,
          PRIMARY KEY (tenant_code, app_key, random)
        ) WITHOUT ROWID`,
      'CREATE INDEX nonces_by_expiry ON nonces (expires_at)',
      oneLine`
        CREATE TABLE audit (
          at BIGINT NOT NULL,
          id TEXT NOT NULL,
          actor TEXT NOT NULL,
          action TEXT NOT NULL,
          tenant_code TEXT,
          subject TEXT NOT NULL,
          digest TEXT,
          codes BIGINT,
          PRIMARY KEY (at, id)
        )`,
      'CREATE INDEX audit_by_digest ON audit (digest, at, id)',
      oneLine`
        CREATE TABLE service_state (
          name TEXT NOT NULL PRIMARY KEY,
          value BIGINT NOT NULL,
          digest_key TEXT
        )`,
      "INSERT INTO service_state (name, value) VALUES ('health', 0)",
    ],
  ],
};

/**
 * Time for which the `random` of a request is kept, in seconds: long after its timestamp is refused
 * by a clock that is right, so that clocks may jump by hours, and a day of requests is little
 * beside the users who made them.
 */
const randomSeconds = 86_400;

/**
 * The lines of the audit before that of `$1` and `$2` and not before the time `$4`, of an action, a
 * tenant and an app; empty text stands for any.
 */
const auditLines = oneLine`
  SELECT at, id, actor, action, tenant_code, subject, digest AS user_digest
  FROM audit
  WHERE at >= $4 AND (at, id) < ($1, $2)
    AND ($5 = '' OR action = $5)
    AND ($6 = '' OR tenant_code = $6)
    AND ($7 = '' OR (subject = $7 AND substr(action, 1, 4) = 'app '))`;

const newestFirst = 'ORDER BY at DESC, id DESC LIMIT $3';

/** Finds the app `$1` only as it was when it had that revision. */
const sameApp = oneLine`
  FROM apps
  WHERE app_key = $1 AND tenant_code = $2 AND channel = $3 AND revision = $4`;

/** Changes a row only if the app is what it was at that revision, and the pair is new. */
const useNonce = oneLine`
  INSERT INTO nonces (tenant_code, app_key, random, expires_at)
  SELECT tenant_code, app_key, $5, unixepoch() + ${randomSeconds}
  ${sameApp}
  ON CONFLICT (tenant_code, app_key, random) DO NOTHING`;

/**
 * Uses a code once, unless it is expired or used up. Its time left is in no index: the key alone
 * finds it.
 */
function useCode(tenantCode: string, code: string): string {
  return oneLine`
    UPDATE codes
    SET uses_left = uses_left - 1
    WHERE tenant_code = ${tenantCode} AND code = ${code}
      AND expires_at - unixepoch() > 0
      AND (uses_left IS NULL OR uses_left > 0)`;
}

/** Processes that know an app compare its revision. */
const newRevision = 'revision = revision + 1';
const changed = 'RETURNING tenant_code, channel';
const codeColumns = 'tenant_code, code, union_id, info_names, expires_at, uses_left';
const appColumns = oneLine`
  app_key, app_secret, tenant_code, channel, recipes, created_at,
  old_secret, old_until, disabled, revision,
  old_until - unixepoch() AS old_left`;

/**
 * The statements of the store, for SQLite and for databases with PostgreSQL's protocol, as
 * `../database/sql-dialects.ts` says. Keys begin with `tenant_code`, except where an app is found
 * by its key alone; the number in `$1` identifies a value, not its position. `unixepoch()` is the
 * current second by the clock of the database: the clocks of processes differ.
 */
export const statements = {
  findApp: oneLine`
    SELECT ${appColumns}
    FROM apps
    WHERE app_key = $1`,
  listApps: oneLine`
    SELECT ${appColumns}
    FROM apps
    WHERE app_key > $1
    ORDER BY app_key
    LIMIT $2`,
  findRevision: `SELECT 1 AS found ${sameApp}`,
  addApp: oneLine`
    INSERT INTO apps (app_key, app_secret, tenant_code, channel, recipes, created_at, revision)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (app_key) DO NOTHING`,
  /** Keeps the old secret valid for some seconds, or removes it. */
  rotateAppSecret: oneLine`
    UPDATE apps
    SET old_secret = CASE WHEN $3 > 0 THEN app_secret END,
      old_until = unixepoch() + $3,
      app_secret = $2,
      ${newRevision}
    WHERE app_key = $1
    ${changed}`,
  retireAppSecret: oneLine`
    UPDATE apps
    SET old_secret = NULL, old_until = 0, ${newRevision}
    WHERE app_key = $1
    ${changed}`,
  /**
   * Unless a secret was changed meanwhile. The secrets themselves stay, and with them the revision.
   */
  setStoredSecrets: oneLine`
    UPDATE apps
    SET app_secret = $2, old_secret = $3
    WHERE app_key = $1 AND app_secret = $4
      AND COALESCE(old_secret, '') = COALESCE($5, '')`,
  disableApp: oneLine`
    UPDATE apps
    SET disabled = $2, ${newRevision}
    WHERE app_key = $1
    ${changed}`,
  /** `null` leaves a column as it is; of recipes, empty text stands for the default ones. */
  setApp: oneLine`
    UPDATE apps
    SET channel = COALESCE($2, channel),
      recipes = NULLIF(COALESCE($3, recipes), ''),
      ${newRevision}
    WHERE app_key = $1
    ${changed}`,
  removeApp: oneLine`
    DELETE FROM apps
    WHERE app_key = $1
    ${changed}`,

  findUser: oneLine`
    SELECT record
    FROM users
    WHERE tenant_code = $1 AND union_id = $2`,
  listUsers: oneLine`
    SELECT record
    FROM users
    WHERE tenant_code = $1 AND union_id > $2
    ORDER BY union_id
    LIMIT $3`,
  /**
   * Locks the row until the transaction ends, and returns its current content: no update is lost.
   */
  lockUser: oneLine`
    SELECT record
    FROM users
    WHERE tenant_code = $1 AND union_id = $2
    FOR UPDATE`,
  setRecord: oneLine`
    UPDATE users
    SET record = $3, revision = revision + 1
    WHERE tenant_code = $1 AND union_id = $2`,
  deleteUser: oneLine`
    DELETE FROM users
    WHERE tenant_code = $1 AND union_id = $2`,

  /** Two users show that a value is ambiguous. */
  findUsersByValue: oneLine`
    SELECT union_id
    FROM user_values
    WHERE tenant_code = $1 AND digest = $2
    LIMIT 2`,
  /** A join with `users` would read all users of the tenant, with statistics that are old. */
  listUsersByValue: oneLine`
    SELECT (
      SELECT record
      FROM users
      WHERE tenant_code = $1 AND union_id = user_values.union_id
    ) AS record
    FROM user_values
    WHERE tenant_code = $1 AND digest = $2 AND union_id > $3
    ORDER BY union_id
    LIMIT $4`,

  /** For a user that exists, and is not deleted meanwhile. */
  addCode: oneLine`
    INSERT INTO codes (${codeColumns})
    SELECT tenant_code, $2, union_id, $4, unixepoch() + $5, $6
    FROM users
    WHERE tenant_code = $1 AND union_id = $3
    FOR KEY SHARE
    RETURNING ${codeColumns}`,
  useCode: `${useCode('$1', '$2')} RETURNING union_id, info_names`,
  findCode: oneLine`
    SELECT union_id
    FROM codes
    WHERE tenant_code = $1 AND code = $2`,
  listCodes: oneLine`
    SELECT ${codeColumns}
    FROM codes
    WHERE tenant_code = $1 AND code > $2
    ORDER BY code
    LIMIT $3`,
  removeCode: oneLine`
    DELETE FROM codes
    WHERE tenant_code = $1 AND code = $2`,
  removeCodesOfUser: oneLine`
    DELETE FROM codes
    WHERE tenant_code = $1 AND union_id = $2`,

  useNonce,

  addAudit: oneLine`
    INSERT INTO audit (at, id, actor, action, tenant_code, subject, digest)
    VALUES (unixepoch(), $1, $2, $3, $4, $5, $6)`,
  listAudit: `${auditLines} ${newestFirst}`,
  /** Those of any of three digests. */
  listAuditOfUser: `${auditLines} AND digest IN ($8, $9, $10) ${newestFirst}`,
  /** Counts codes in the line of their minute that `$1` names. */
  countCodes: oneLine`
    INSERT INTO audit (at, id, actor, action, tenant_code, subject, codes)
    VALUES (unixepoch() / 60 * 60, $1, $2, 'code issue', $3, $4, $5)
    ON CONFLICT (at, id) DO UPDATE
    SET codes = audit.codes + excluded.codes,
      subject = (audit.codes + excluded.codes) || ' codes'`,

  findDigestKey: oneLine`
    SELECT digest_key
    FROM service_state
    WHERE name = 'digest_key'`,
  /** Keeps the key that another process has set by now. */
  setDigestKey: oneLine`
    INSERT INTO service_state (name, value, digest_key)
    VALUES ('digest_key', 0, $1)
    ON CONFLICT (name) DO UPDATE
    SET digest_key = COALESCE(service_state.digest_key, excluded.digest_key)
    RETURNING digest_key`,

  expiredCode: firstExpired({ table: 'codes', column: 'expires_at', end: 'unixepoch()' }),
  purgeCodes: purge({
    table: 'codes',
    key: 'tenant_code, code',
    column: 'expires_at',
    end: 'unixepoch()',
  }),
  expiredNonce: firstExpired({ table: 'nonces', column: 'expires_at', end: 'unixepoch()' }),
  purgeNonces: purge({
    table: 'nonces',
    key: 'tenant_code, app_key, random',
    column: 'expires_at',
    end: 'unixepoch()',
  }),
  /** The last value is the age of a line in seconds. */
  expiredAudit: firstExpired({ table: 'audit', column: 'at', end: 'unixepoch() - $1' }),
  purgeAudit: purge({ table: 'audit', key: 'at, id', column: 'at', end: 'unixepoch() - $3' }),

  /** Changes a page each time, but never the size of the database. */
  probe: oneLine`
    UPDATE service_state
    SET value = value + 1
    WHERE name = 'health'`,
  now: 'SELECT unixepoch() AS now',
} as const;

/** Rows that are expired once the time in `column` is before `end`. */
interface ExpiringRows {
  readonly table: string;
  /** Unix time in seconds. */
  readonly column: string;
  /** An expression of SQL. */
  readonly end: string;
}

/** When the first row of a table expired, and how many seconds ago; or null. */
function firstExpired({ table, column, end }: ExpiringRows): string {
  return oneLine`
    SELECT MIN(${column}) AS expires_at, ${end} - MIN(${column}) AS waited
    FROM ${table}
    WHERE ${column} < ${end}`;
}

/**
 * Deletes up to `$2` expired rows, the oldest first, none that expired before `$1`: deleted rows
 * stay in the index for a while, and are not scanned again. `key` has the columns of the primary
 * key.
 */
function purge({ table, key, column, end }: ExpiringRows & { readonly key: string }): string {
  return oneLine`
    DELETE FROM ${table}
    WHERE (${key}) IN (
      SELECT ${key}
      FROM ${table}
      WHERE ${column} >= $1 AND ${column} < ${end}
      ORDER BY ${column}
      LIMIT $2
      FOR UPDATE SKIP LOCKED
    )
    RETURNING ${column} AS expires_at`;
}

/**
 * Requests as one statement, for PostgreSQL. Each uses up a random `$5`, unless the app has
 * changed.
 */
export const onceStatements = {
  /**
   * Uses up a code `$6`, too; returns its user, with the record and the names that it authorizes to
   * read: nothing but a row for a code that is not valid, and no row if the random was not used up.
   */
  readUser: oneLine`
    WITH fresh AS (
      ${useNonce}
      RETURNING 1
    ),
    used AS (
      ${useCode('$2', '$6')}
        AND EXISTS (SELECT 1 FROM fresh)
      RETURNING union_id, info_names
    )
    SELECT union_id, info_names, (
      SELECT record
      FROM users
      WHERE tenant_code = $2 AND union_id = used.union_id
    ) AS record
    FROM fresh
    LEFT JOIN used ON TRUE`,
  /**
   * The user of an ID `$3`, or two users of a value. Each change of a row gives it another `xmin`.
   */
  findVersion: oneLine`
    SELECT record, users.xmin AS version
    FROM (
      SELECT CAST($1 AS TEXT) AS tenant_code,
        unnest(
          ARRAY(
            SELECT union_id
            FROM user_values
            WHERE tenant_code = $1 AND digest = $2
            LIMIT 2
          ) || CAST($3 AS TEXT)
        ) AS union_id
    ) AS named
    JOIN users USING (tenant_code, union_id)`,
  /**
   * Returns a row if the user `$6` is as in version `$7`, nobody has locked it, and the
   * random is new: it has stored the record and its values. Two with the same random at once are an
   * error of the second, which stores nothing. A list of digests whose length is known would be
   * planned anew each time, which takes as long as the rest.
   */
  passBackUser: oneLine`
    WITH mine AS (
      SELECT 1
      FROM users
      WHERE tenant_code = $2 AND union_id = $6 AND xmin = $7
      FOR UPDATE SKIP LOCKED
    ),
    stored AS (
      UPDATE users
      SET record = $8, revision = revision + 1
      WHERE tenant_code = $2 AND union_id = $6
        AND EXISTS (SELECT 1 FROM mine)
        AND EXISTS (SELECT 1 ${sameApp})
        AND NOT EXISTS (
          SELECT 1
          FROM nonces
          WHERE tenant_code = $2 AND app_key = $1 AND random = $5
        )
      RETURNING 1
    ),
    used AS (
      INSERT INTO nonces (tenant_code, app_key, random, expires_at)
      SELECT $2, $1, $5, unixepoch() + ${randomSeconds}
      FROM stored
    ),
    removed AS (
      DELETE FROM user_values
      USING (
        SELECT CAST($2 AS TEXT) AS tenant_code,
          unnest((SELECT CAST($9 AS TEXT[]))) AS digest,
          CAST($6 AS TEXT) AS union_id
        FROM stored
      ) AS gone
      WHERE (user_values.tenant_code, user_values.digest, user_values.union_id) =
        (gone.tenant_code, gone.digest, gone.union_id)
    ),
    added AS (
      INSERT INTO user_values (tenant_code, digest, union_id)
      SELECT $2, unnest((SELECT CAST($10 AS TEXT[]))), $6
      FROM stored
      ON CONFLICT (tenant_code, digest, union_id) DO NOTHING
    )
    SELECT 1 AS stored
    FROM stored`,
} as const;

/** Statements that are run for many rows. */
export const rowStatements = {
  /** Adds a user, or locks the one that there is and returns its current record. */
  addOrLockUser: oneLine`
    INSERT INTO users (tenant_code, union_id, record, revision)
    VALUES ($1, $2, $3, 1)
    ON CONFLICT (tenant_code, union_id) DO UPDATE
    SET revision = users.revision + 1
    RETURNING tenant_code, union_id, CASE WHEN revision > 1 THEN record END AS record`,
  replaceRecord: oneLine`
    INSERT INTO users (tenant_code, union_id, record, revision)
    VALUES ($1, $2, $3, 1)
    ON CONFLICT (tenant_code, union_id) DO UPDATE
    SET record = excluded.record`,
  addValue: oneLine`
    INSERT INTO user_values (tenant_code, digest, union_id)
    VALUES ($1, $2, $3)
    ON CONFLICT (tenant_code, digest, union_id) DO NOTHING`,
  removeValue: oneLine`
    DELETE FROM user_values
    WHERE (tenant_code, digest, union_id) = ($1, $2, $3)
    RETURNING digest`,
} as const;

/** Empties the store. */
export const emptyStatements = ['apps', 'users', 'user_values', 'codes', 'nonces'].map(
  (table) => `DELETE FROM ${table}`,
);

/** Brings the ends of codes and old secrets `$1` seconds nearer. */
export const ageStatements = [
  'UPDATE codes SET expires_at = expires_at - $1',
  oneLine`
    UPDATE apps
    SET old_until = old_until - $1, ${newRevision}
    WHERE old_secret IS NOT NULL`,
];
