import { createHash } from 'node:crypto';

/**
 * A client that knows nothing of ours: it signs with node:crypto as the spec and the design word
 * it, and sends with fetch. So the service is checked by somebody else than itself.
 */
export interface Draft {
  method: string;
  path: string;
  query: Map<string, string>;
  /** The form fields of the body; `null` for no body. */
  form: Map<string, string> | null;
  headers: Record<string, string>;
  secret: string;
  /** Whether the signature is spoiled, its length kept. */
  spoilAppSign?: boolean;
  spoilSign?: boolean;
}

export interface AppKeys {
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  readonly secret: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly envelope: {
    readonly code: number;
    readonly msg: string;
    readonly data: Record<string, unknown>;
  };
}

let serial = 0;

/** A `random` that was not used before. */
export function freshRandom(): string {
  serial += 1;
  return `r${String(serial).padStart(9, '0')}`;
}

export function draftRead(app: AppKeys, code: string, query: Record<string, string> = {}): Draft {
  return {
    method: 'GET',
    path: '/api/v1/server/user/user_info_for_third',
    query: new Map([...common(app), ['code', code], ...Object.entries(query)]),
    form: null,
    headers: {},
    secret: app.secret,
  };
}

export function draftPassback(app: AppKeys, form: Record<string, string>): Draft {
  return {
    method: 'PUT',
    path: '/api/v1/server/user/passback_user_info',
    query: new Map(common(app)),
    form: new Map(Object.entries(form)),
    headers: {},
    secret: app.secret,
  };
}

function common({ tenant_code, channel, app_key }: AppKeys): [string, string][] {
  return [
    ['tenant_code', tenant_code],
    ['app_key', app_key],
    ['channel', channel],
    ['random', freshRandom()],
    ['timestamp', String(Math.floor(Date.now() / 1000))],
  ];
}

/** The request's target and body, signed. */
export function signDraft(draft: Draft): { target: string; body: string | null } {
  const query = new Map(draft.query);
  const value = (name: string) => query.get(name) ?? '';
  const key = `&key=${draft.secret}`;
  const appSign = md5(
    `app_key=${value('app_key')}&random=${value('random')}&timestamp=${value('timestamp')}${key}`,
  );
  query.set('app_sign', draft.spoilAppSign ? spoil(appSign) : appSign);
  const signed = [...query, ...(draft.form ?? [])]
    .filter(([, text]) => text !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `${name}=${text}`)
    .join('&');
  const sign = md5(`${signed}${key}`);
  query.set('sign', draft.spoilSign ? spoil(sign) : sign);
  return {
    target: `${draft.path}?${new URLSearchParams([...query])}`,
    body: draft.form === null ? null : String(new URLSearchParams([...draft.form])),
  };
}

export async function send(url: string, draft: Draft): Promise<Answer> {
  const { target, body } = signDraft(draft);
  return await fetchAnswer(url + target, {
    method: draft.method,
    headers: {
      ...(body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...draft.headers,
    },
    body,
  });
}

export async function fetchAnswer(url: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    envelope: text === '' ? { code: 0, msg: '', data: {} } : JSON.parse(text),
  };
}

function md5(text: string): string {
  return createHash('md5').update(text, 'utf8').digest('hex');
}

function spoil(digest: string): string {
  return (digest.startsWith('0') ? '1' : '0') + digest.slice(1);
}
