import type { UserRecord } from '../../src/core/contract/user-record.js';
import {
  type AdminOperations,
  createService,
  type LogEvent,
  type Service,
  type ServiceOptions,
} from '../../src/service/index.js';
import { type Answer, type AppKeys, draftPassback, draftRead, send } from './foreign-client.js';
import { freshDatabase } from './fresh-database.js';

export const tenant = 'acme';

/** A service that runs, with an app of tenant `acme` that calls it. */
export interface RunningService {
  readonly service: Service;
  readonly app: AppKeys;
  readonly log: LogEvent[];
  /** Issues a code to a user and reads with it. */
  read(unionId: string, infoName?: string, infoNames?: readonly string[]): Promise<Answer>;
  passback(form: Record<string, string>): Promise<Answer>;
}

export async function runService(options: ServiceOptions = {}): Promise<RunningService> {
  const log: LogEvent[] = [];
  const database = options.database ?? (await freshDatabase());
  const service = await createService({ log: (event) => log.push(event), ...options, database });
  return { ...(await withApp(service)), log };
}

export async function withApp(service: Service): Promise<Omit<RunningService, 'log'>> {
  const app = await createAppKeys(service, tenant);
  return {
    service,
    app,
    async read(unionId, infoName, infoNames) {
      const issued = await service.admin.issueCode({
        tenantCode: tenant,
        unionId,
        ...(infoNames === undefined ? {} : { infoNames }),
      });
      const query = infoName === undefined ? {} : { info_name: infoName };
      return await send(service.url, draftRead(app, issued.code, query));
    },
    passback: (form) => send(service.url, draftPassback(app, form)),
  };
}

export async function createAppKeys(
  { admin }: { readonly admin: AdminOperations },
  tenantCode: string,
): Promise<AppKeys> {
  const { app_secret, ...app } = await admin.createApp({ tenantCode, channel: 'web' });
  return { ...app, secret: app_secret.reveal() };
}

export function user(unionId: string, fields: Partial<UserRecord> = {}): UserRecord {
  return {
    tenant_code: tenant,
    union_id: unionId,
    basic_info: {},
    extension_info: {},
    login_device_info: [],
    ...fields,
  };
}

/** All items of a list. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
}
