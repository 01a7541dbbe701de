// A typed read, a passback, and all errors in one switch.
import { type InfoName, isUserInfoFailure, type UserInfoClient } from 'userinfo-exchange';

/** `data` has the names that were asked for; the compiler refuses any other. */
export async function signIn(client: UserInfoClient, code: string) {
  const { data } = await client.read({ code, infoNames: ['mobile', 'acme_level'] });
  return { user: data.union_id, mobile: data.mobile ?? null, level: data.acme_level ?? 'none' };
}

/** A function of your own around `read` keeps the types of the names by this parameter. */
export async function readData<const Name extends string>(
  client: UserInfoClient,
  code: string,
  infoNames: readonly (Name & InfoName<Name>)[],
) {
  const { data } = await client.read<Name>({ code, infoNames });
  return data;
}

/** An interface of your own is the type of `userInfo`. */
export interface Purchase {
  readonly acme_level: 'silver' | 'gold';
  readonly acme_total: number;
}

export async function recordPurchase(client: UserInfoClient, unionId: string, userInfo: Purchase) {
  const { envelope, requestId } = await client.passback({ unionId, userInfo });
  return { msg: envelope.msg, requestId };
}

/** What to answer the end user; the compiler knows what each error has. */
export function statusFor(error: unknown): number {
  if (!isUserInfoFailure(error)) throw error;
  switch (error.code) {
    case 'REJECTED':
      return error.means === 'codeNotValid' ? 403 : error.retryable ? 503 : 502;
    case 'NO_ANSWER':
      return error.received ? 504 : 503;
    case 'RETRY_LATER':
    case 'CANCELLED':
      return 503;
    default:
      return 500;
  }
}
