// Apart from index.ts: only tests load it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Endpoint } from '../protocol/endpoints.js';
import { envelopeContentType } from '../protocol/envelope.js';
import { InvalidInputError } from '../protocol/errors.js';
import { parameterText } from '../protocol/parameters.js';
import { platformRefusal } from '../protocol/result-code-table.js';
import { type ResultCode, resultCode, resultCodes } from '../protocol/result-codes.js';
import { shapeObject, type UserRecord } from '../protocol/user-record.js';
import { type ExplanationPair, expectedSignatures, explainBoth } from '../signing/app-signatures.js';
import type { NewCode } from './admin/codes.js';
import { checkFaults, type FaultSettings } from './fault-settings.js';
import { endpointOf, type Fault, faultDrawer, injectFaults } from './faults.js';
import { signersOf } from './http/authenticate.js';
import { parseRequest } from './http/received-request.js';
import type { ServerExtension } from './http/server.js';
import type { Service } from './service.js';
import { type CheckedSettings, checkSettings, type ServiceOptions } from './settings.js';
import type { Store } from './store/store.js';

/**
 * The settings with which a client calls the service: options of a UserInfoClient.
 *
 * @example
 * const app: TestApp = { tenantCode: 'acme', channel: 'web', appKey: 'k', appSecret: 's' };
 * const service = await createTestService(app);
 */
export interface TestApp {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  readonly appSecret: string;
}

/**
 * Options of a service for tests.
 *
 * @example
 * const testOptions: TestServiceOptions = { appSecret: 'test', users: [{ union_id: 'u1' }] };
 */
export interface TestServiceOptions extends Omit<ServiceOptions, 'now' | 'faults'>, Partial<TestApp> {
  /** Users that the service has after each `reset`. */
  readonly users?: readonly TestUser[];
}

/**
 * A user of the app's tenant; what is left out is empty.
 *
 * @example
 * const user: TestUser = { union_id: 'u1', basic_info: { mobile: '13800001111' } };
 * await testService.putUser(user);
 */
export type TestUser = Pick<UserRecord, 'union_id'> & Partial<Omit<UserRecord, 'tenant_code'>>;

type Operation = Endpoint['operation'];

/**
 * The failure of requests. Without any field, they are answered with 50001, and not carried out.
 *
 * @example
 * const failure: TestFailure = { operation: 'passback', code: 1001, httpStatus: 429, retryAfter: 1 };
 * testService.failNext(2, failure);
 */
export interface TestFailure {
  /** Default: both operations. */
  readonly operation?: Operation;
  /** A result code: one of this project becomes that of the platform with the same meaning. Default: 50001. */
  readonly code?: number;
  /** Default: the first three digits of a code of this project, otherwise 200. */
  readonly httpStatus?: number;
  readonly msg?: string;
  /** `Retry-After` of the answer, in seconds. */
  readonly retryAfter?: number;
  /** Close the connection instead of an answer: `before` the request is carried out, or `after` it. */
  readonly cut?: 'before' | 'after';
  /** Delay before anything else, in milliseconds. */
  readonly delayMs?: number;
}

/**
 * An answer of your own; an object as `body` is sent as JSON.
 *
 * @example
 * const answer: TestAnswer = { httpStatus: 502, body: '<title>Bad Gateway</title>' };
 * testService.stub(answer, { times: 1 });
 */
export interface TestAnswer {
  /** Default: 200. */
  readonly httpStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | object;
}

/**
 * A request that the service received, unmasked.
 *
 * @example
 * const levelOf = ({ userInfo }: TestRequest) => userInfo?.acme_level;
 * testService.requests.map(levelOf);
 */
export interface TestRequest {
  readonly operation: Operation;
  /** Path and query as sent. */
  readonly target: string;
  /** The decoded parameters of query and form by name. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The decoded `user_info` of a passback; undefined for a read, and for text that is not JSON. */
  readonly userInfo: Readonly<Record<string, unknown>> | undefined;
  /** Both signatures as sent, and how the service computes them; `null` for an unknown app or a malformed request. */
  readonly signatures: TestSignatures | null;
  /** The answer, `null` if the connection was cut. */
  readonly answer: { readonly httpStatus: number; readonly body: string } | null;
}

/**
 * The signatures of a request: whether each is right, and the stages by which the service computes it.
 *
 * @example
 * const isSigned = ({ app_sign, sign }: TestSignatures) => app_sign.isRight && sign.isRight;
 */
export type TestSignatures = {
  readonly [Name in keyof ExplanationPair]: ExplanationPair[Name] & {
    readonly received: string;
    readonly isRight: boolean;
  };
};

/**
 * The service of the spec as a test double: it does what the real one does, unless a test says otherwise.
 *
 * @example
 * const service: TestService = await createTestService();
 * const code = await service.issueCode('u1');
 * service.failNext(1, { cut: 'after' });
 */
export interface TestService extends Service {
  /** The options of a UserInfoClient for the app of the service. They stay the same after `reset`. */
  readonly clientOptions: TestApp & { readonly baseUrl: string };
  /** The requests for the two operations since the last `reset`, in the order of their answers. */
  readonly requests: readonly TestRequest[];
  /** Random faults from now on, checked; `null` for none. */
  faults: FaultSettings | null;
  /** Fails the next `count` requests. */
  failNext(count: number, failure?: TestFailure): void;
  /** Answers requests with an answer of your own, for good or `times` times; later stubs have precedence. */
  stub(
    answer:
      | TestAnswer
      | ((request: Pick<TestRequest, 'operation' | 'parameters' | 'userInfo'>) => TestAnswer),
    limits?: { readonly operation?: Operation; readonly times?: number },
  ): void;
  /** Adds or replaces a user of the app's tenant. */
  putUser(user: TestUser): Promise<void>;
  /** Issues a code to a user, and returns it. */
  issueCode(unionId: string, options?: Omit<NewCode, 'tenantCode' | 'unionId'>): Promise<string>;
  /** Moves the clock of the service forwards, in milliseconds: codes expire, timestamps of clients are late. */
  advanceClock(ms: number): Promise<void>;
  /** The app and the `users` of the options again, and nothing else: no faults, stubs or requests, the true clock. */
  reset(): Promise<void>;
}

/** The treatment of the next requests, instead of carrying them out. */
interface Rule {
  readonly operation: Operation | undefined;
  left: number;
  faultOf(endpoint: Endpoint, request: FastifyRequest): Fault;
}

const isKnown = (code: number): code is ResultCode => (resultCodes as readonly number[]).includes(code);

function decode(
  endpoint: Endpoint,
  request: FastifyRequest,
  settings: CheckedSettings,
): Omit<TestRequest, 'signatures' | 'answer'> {
  const { parameters } = parseRequest(endpoint, request, settings);
  return {
    operation: endpoint.operation,
    target: request.url,
    parameters: Object.fromEntries(parameters),
    userInfo: parseObject(parameterText(parameters, 'user_info')),
  };
}

function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

async function explain(
  endpoint: Endpoint,
  request: FastifyRequest,
  store: Store,
  settings: CheckedSettings,
): Promise<TestSignatures | null> {
  const { parameters, check } = parseRequest(endpoint, request, settings);
  const app = await store.read(({ apps }) => apps.find(parameterText(parameters, 'app_key')));
  if (app === null) return null;
  try {
    const { signable } = check();
    const signers = signersOf(app.recipes, settings.signers);
    const expected = expectedSignatures(signers, signable, app.app_secret);
    const stages = explainBoth(signers, signable, app.app_secret);
    const of = (name: 'app_sign' | 'sign') => {
      const received = parameterText(parameters, name);
      return { ...stages[name], received, isRight: received === expected[name].digest };
    };
    return { app_sign: of('app_sign'), sign: of('sign') };
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}

function failureOf({ delayMs, cut, ...failure }: TestFailure, { platform }: CheckedSettings): Fault {
  if (cut !== undefined) return { delayMs, cut };
  const { code = resultCode.internal, retryAfter } = failure;
  const refusal = isKnown(code)
    ? platformRefusal(code, platform.result_codes, platform.http_status)
    : { code, msg: 'error', httpStatus: 200 };
  const { msg = refusal.msg, httpStatus = refusal.httpStatus } = failure;
  const answer: TestAnswer = {
    httpStatus,
    headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    body: { code: refusal.code, msg, data: shapeObject({}, platform) },
  };
  return { delayMs, answer: (reply) => send(reply, answer) };
}

function send(reply: FastifyReply, { httpStatus = 200, headers = {}, body }: TestAnswer): FastifyReply {
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : envelopeContentType;
  return reply
    .code(httpStatus)
    .headers({ 'content-type': type, ...headers })
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

/** @internal Starts a service with what tests need around it; `start` starts the service itself. */
export async function startTestService(
  options: TestServiceOptions,
  start: (options: ServiceOptions, extension: ServerExtension) => Promise<Service>,
): Promise<TestService> {
  const {
    users = [],
    tenantCode = 'acme',
    channel = 'web',
    appKey = 'test-app',
    appSecret = 'test-secret',
    ...serviceOptions
  } = options;
  const settings = checkSettings(serviceOptions);
  const requests: TestRequest[] = [];
  const rules: Rule[] = [];
  let ahead = 0;
  let faults: FaultSettings | null = null;
  let drawFault: (() => Fault) | null = null;
  const extension: ServerExtension = (app, responder, store) => {
    injectFaults(app, responder, (endpoint, request) => {
      const rule = rules.findLast(
        ({ left, operation = endpoint.operation }) => left > 0 && operation === endpoint.operation,
      );
      if (rule !== undefined) rule.left -= 1;
      const fault = rule?.faultOf(endpoint, request) ?? drawFault?.() ?? {};
      if (fault.cut === 'before') {
        requests.push({ ...decode(endpoint, request, settings), signatures: null, answer: null });
      }
      return fault;
    });
    app.addHook('onSend', async (request, { statusCode }, payload) => {
      const endpoint = endpointOf(request);
      if (endpoint === undefined) return payload;
      const answer = request.socket.destroyed ? null : { httpStatus: statusCode, body: String(payload) };
      const signatures = await explain(endpoint, request, store, settings);
      requests.push({ ...decode(endpoint, request, settings), signatures, answer });
      return payload;
    });
  };
  const service = await start(
    { ...serviceOptions, now: () => Date.now() + ahead + (faults?.skewSeconds ?? 0) * 1000 },
    extension,
  );
  const { admin } = service;
  const app: TestApp = { tenantCode, channel, appKey, appSecret };

  const test: TestService = {
    ...service,
    clientOptions: { ...app, baseUrl: service.url },
    requests,
    get faults() {
      return faults;
    },
    set faults(given) {
      if (given !== null) checkFaults(given);
      faults = given;
      drawFault = given && faultDrawer(given);
    },
    failNext(count, failure = {}) {
      if (!(Number.isSafeInteger(count) && count > 0)) {
        throw new InvalidInputError(`failNext: ${String(count)} is not a number of requests`);
      }
      rules.push({ operation: failure.operation, left: count, faultOf: () => failureOf(failure, settings) });
    },
    stub(answer, { operation, times = Number.POSITIVE_INFINITY } = {}) {
      const faultOf = (endpoint: Endpoint, request: FastifyRequest): Fault => {
        const given = typeof answer === 'function' ? answer(decode(endpoint, request, settings)) : answer;
        return { answer: (reply) => send(reply, given) };
      };
      rules.push({ operation, left: times, faultOf });
    },
    putUser: ({ basic_info = {}, extension_info = {}, login_device_info = [], ...rest }) =>
      admin.putUser({ tenant_code: tenantCode, basic_info, extension_info, login_device_info, ...rest }),
    async issueCode(unionId, more = {}) {
      return (await admin.issueCode({ tenantCode, unionId, ...more })).code;
    },
    async advanceClock(ms) {
      ahead += ms;
      // The store has a clock of its own.
      const now = (Date.now() + ahead) / 1000;
      for await (const { code, expires_at } of admin.listCodes({ tenantCode })) {
        if (expires_at <= now) await admin.revokeCode({ tenantCode, code });
      }
    },
    async reset() {
      await service.reset();
      requests.splice(0);
      rules.splice(0);
      test.faults = null;
      ahead = 0;
      await admin.createApp(app);
      for (const user of users) await test.putUser(user);
    },
  };
  try {
    await test.reset();
  } catch (error) {
    await service.close();
    throw error;
  }
  return test;
}
