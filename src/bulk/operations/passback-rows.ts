import { passbackRequest } from '../../client/request.js';
import { reservedKeys } from '../../protocol/user-info.js';
import { type RowOperation, requiredText } from './row-operation.js';

/** How each row names its user (§4.2): by a column of union IDs, or by one of the values that are passed back. */
export type UserNaming =
  | { readonly by: 'union_id'; readonly column: string }
  | { readonly by: 'primary_key'; readonly key: string };

/** Passes each row's values back, but for the column that names the user by union ID. */
export function passbackRows(naming: UserNaming): RowOperation {
  return naming.by === 'union_id' ? byUnionId(naming.column) : byPrimaryKey(naming.key);
}

function byUnionId(column: string): RowOperation {
  return {
    name: 'passback',
    infoNames: [],
    columns: {
      required: [column],
      reserved: reservedKeys.filter((name) => name !== column),
      needsMore: true,
      hint: 'Name the column of user IDs with --union-id-column, or the key that identifies users with --primary-key.',
    },
    userKey: 'union_id',
    user: (fields) => requiredText(fields, column),
    request(fields) {
      const unionId = requiredText(fields, column);
      fields.delete(column);
      return passbackRequest({ unionId, userInfo: fields });
    },
  };
}

function byPrimaryKey(key: string): RowOperation {
  return {
    name: 'passback',
    infoNames: [],
    columns: {
      required: [key],
      reserved: reservedKeys,
      needsMore: false,
      hint: 'Name the column that identifies users with --primary-key.',
    },
    userKey: key,
    user: (fields) => requiredText(fields, key),
    request: (fields) => passbackRequest({ primaryKey: key, userInfo: fields }),
  };
}
