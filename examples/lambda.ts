// A handler as AWS Lambda calls it. The client outlives the call: the next one finds its connection
// open.
import { InvalidInputError, UserInfoError } from 'userinfo-exchange';
import { client } from './client.js';

interface Event {
  readonly unionId: string;
  readonly userInfo: Readonly<Record<string, string | number>>;
}

interface Result {
  readonly statusCode: number;
  readonly body: string;
}

export async function handler({ unionId, userInfo }: Event): Promise<Result> {
  try {
    const { envelope } = await client().passback({ unionId, userInfo });
    return { statusCode: 200, body: envelope.msg };
  } catch (error) {
    if (!(error instanceof UserInfoError)) throw error;
    return { statusCode: error instanceof InvalidInputError ? 400 : 502, body: error.code };
  }
}
