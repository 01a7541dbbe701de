import { expect, it } from 'vitest';
import { passbackOperation } from '../../../../../src/cli/commands/bulk/operations.js';
import { checkColumns } from '../../../../../src/cli/commands/bulk/source/columns.js';
import { cellsOf, csv, readRows } from '../../../../support/read-rows.js';
import { rejection } from '../../../../support/rejection.js';

const { columns } = passbackOperation({ by: 'union_id', column: 'union_id' });

it.each([
  ['a doubled name', 'union_id,a,a\nf1,x,y\n', 'line 1: two columns are named "a"'],
  ['an empty name', 'union_id,,b\nf1,x,y\n', 'line 1: column 2 has an empty name'],
  ['a reserved name', 'union_id,channel\nf1,x\n', 'line 1: the column name "channel" is reserved'],
  ['no column of users', 'id,a\nf1,x\n', 'line 1: no column is named "union_id"; found "id", "a"'],
  ['a column of users alone', 'union_id\nf1\n', 'line 1: there is no column to pass back'],
])('a header with %s is refused', async (_, text, said) => {
  const format = csv({ checkColumns: (found) => checkColumns(found, columns) });
  expect((await rejection(readRows(format, text))).message).toContain(said);
});

it('JSON is not accepted as a CSV header', async () => {
  const error = await rejection(cellsOf('{"union_id":"f1"}\n'));
  expect(error.message).toBe('line 1 is not a header, but looks like JSON');
});
