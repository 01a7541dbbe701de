import { openAdmin } from '../../../src/service/index.js';
import { draftPassback, draftRead } from '../../support/foreign-client.js';
import { tenant, user } from '../../support/running-service.js';
import { type SignedRequest, sign } from './load.js';

/** A store with users, and requests for them that are good once. */
export interface PreparedStore {
  readonly users: number;
  reads(count: number): Promise<SignedRequest[]>;
  passbacks(count: number): SignedRequest[];
  close(): Promise<void>;
}

const users = 10_000;
const issuedAtOnce = 64;

export async function prepareStore(database: string): Promise<PreparedStore> {
  const admin = await openAdmin({ database });
  const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
  const app = { ...rest, secret: app_secret.reveal() };
  const records = Array.from({ length: users }, (_, i) =>
    user(unionId(i), {
      basic_info: { mobile: String(13_800_000_000 + i), chat_nickname: '张三' },
      extension_info: { acme_level: 'gold' },
    }),
  );
  await admin.putUsers(records);
  let serial = 0;
  return {
    users,
    async reads(count) {
      const requests: SignedRequest[] = [];
      const issueOnAndOn = async () => {
        while (requests.length < count) {
          const { code } = await admin.issueCode({
            tenantCode: tenant,
            unionId: unionId(serial++),
          });
          requests.push(sign(draftRead(app, code)));
        }
      };
      await Promise.all(Array.from({ length: issuedAtOnce }, issueOnAndOn));
      return requests;
    },
    passbacks: (count) =>
      Array.from({ length: count }, () => {
        const form = { union_id: unionId(serial++), user_info: `{"acme_level":"${serial}"}` };
        return sign(draftPassback(app, form));
      }),
    close: () => admin.close(),
  };
}

function unionId(index: number): string {
  return `u${index % users}`;
}
