import { forArrays } from '../../src/database/postgres-driver.js';
import { queueStatements } from '../../src/queue/queue.js';
import {
  auditColumns,
  listAudit,
  readUser,
  rowStatements,
  statements,
} from '../../src/service/store/statements.js';

/** The audit without a condition, and with each by itself. */
const names = Object.keys(auditColumns) as (keyof typeof auditColumns)[];
const audits = {
  listAudit: listAudit([]),
  ...Object.fromEntries(names.map((name) => [`listAudit by ${name}`, listAudit([name])])),
};

/** All statements that serve requests and commands, by name. */
export const everyStatement: Readonly<Record<string, string>> = {
  ...statements,
  ...audits,
  ...rowStatements,
};

/** The same as PostgreSQL receives them, and those of the queue, which it alone has. */
export const everyPostgresStatement: Readonly<Record<string, string>> = {
  ...statements,
  ...audits,
  readUser,
  ...Object.fromEntries(
    Object.entries(queueStatements).map(([name, statement]) => [`queue: ${name}`, statement]),
  ),
  ...Object.fromEntries(
    Object.entries(rowStatements).map(([name, statement]) => [name, forArrays(statement)]),
  ),
};
