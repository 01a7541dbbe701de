import { readRequest } from '../../client/request.js';
import { type RowOperation, requiredText } from './row-operation.js';

/** The column of authorization codes. */
const codeColumn = 'code';

/** Reads with the code of each row (§4.1); other columns are for whoever made the file. */
export function readRows(infoNames: readonly string[], scope: string | undefined): RowOperation {
  return {
    name: 'read',
    infoNames,
    columns: {
      required: [codeColumn],
      reserved: [],
      needsMore: false,
      hint: 'The codes to read with stand in a column that is named so.',
    },
    userKey: null,
    user: () => null,
    request: (fields) =>
      readRequest({
        code: requiredText(fields, codeColumn),
        ...(infoNames.length === 0 ? {} : { infoNames }),
        ...(scope === undefined ? {} : { scope }),
      }),
  };
}
