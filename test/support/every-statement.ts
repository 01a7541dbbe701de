import { forArrays } from '../../src/service/database/postgres-driver.js';
import { onceStatements, rowStatements, statements } from '../../src/service/store/statements.js';

/** All statements that serve requests and commands, by name. */
export const everyStatement: Readonly<Record<string, string>> = { ...statements, ...rowStatements };

/** The same as PostgreSQL receives them. */
export const everyPostgresStatement: Readonly<Record<string, string>> = {
  ...statements,
  ...onceStatements,
  ...Object.fromEntries(
    Object.entries(rowStatements).map(([name, statement]) => [name, forArrays(statement)]),
  ),
};
