// Only tests load it.
import type { Endpoint, OperationName } from '../core/contract/endpoints.js';
import { InvalidInputError } from '../core/contract/errors.js';
import {
  checkMembers,
  mustBe,
  mustBeCount,
  mustBeText,
  mustBeTexts,
  type Shape,
} from '../core/contract/members.js';
import { parameterText } from '../core/contract/parameters.js';
import type { UserRecord } from '../core/contract/user-record.js';
import { isObject, jsonValueOf } from '../core/support/json.js';
import type { NewCode } from './administration/codes.js';
import { checkFaults, type FaultSettings } from './fault-settings.js';
import { type Fault, faultDrawer, injectFaults } from './faults.js';
import type { HttpExchange } from './http/exchange.js';
import { ParsedRequest } from './http/received-request.js';
import type { ServerExtension } from './http/server.js';
import type { Service } from './service.js';
import {
  type CheckedSettings,
  checkSettings,
  type ServiceOptions,
  serviceMembers,
} from './settings.js';
import type { Store } from './store/store.js';
import {
  checkFailure,
  checkStub,
  failureOf,
  type StubLimits,
  stubbed,
  type TestAnswer,
  type TestFailure,
} from './test-answers.js';

/** The settings with which a client calls the service: options of a UserInfoClient. */
export interface TestApp {
  /**
   * Tenant code (§5.3).
   *
   * @default 'acme'
   */
  readonly tenantCode: string;
  /**
   * Channel code (§5.3).
   *
   * @default 'web'
   */
  readonly channel: string;
  /**
   * Application key (§5.2).
   *
   * @default 'test-app'
   */
  readonly appKey: string;
  /**
   * Application secret (§5.2).
   *
   * @default 'test-secret'
   */
  readonly appSecret: string;
}

/** Options of a service for tests. */
export interface TestServiceOptions
  extends Omit<ServiceOptions, 'now' | 'faults'>,
    Partial<TestApp> {
  /**
   * Users that the service has after each `reset`.
   *
   * @default none
   */
  readonly users?: readonly TestUser[];
}

/** A user of the app's tenant; what is left out is empty. */
export type TestUser = Pick<UserRecord, 'union_id'> & Partial<Omit<UserRecord, 'tenant_code'>>;

/**
 * A request that the service received, unmasked.
 *
 * @example
 * const levelOf = ({ userInfo }: TestRequest) => userInfo?.acme_level;
 * testService.requests.map(levelOf);
 */
export interface TestRequest {
  readonly operation: OperationName;
  /** Path and query as sent. */
  readonly target: string;
  /** The decoded parameters of query and form by name. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The decoded `user_info` of a passback; undefined for a read, and for text that is not JSON. */
  readonly userInfo: Readonly<Record<string, unknown>> | undefined;
  /** The answer, `null` if the connection was cut. */
  readonly answer: { readonly httpStatus: number; readonly body: string } | null;
}

/**
 * The service of the spec as a test double: it does what the real one does, unless a test says
 * otherwise.
 */
export interface TestService extends Service {
  /**
   * The options of a UserInfoClient for the app of the service. They stay the same after `reset`.
   * `now` is the clock of the service: `faults.skewSeconds` makes the two clocks differ.
   */
  readonly clientOptions: TestApp & { readonly baseUrl: string; readonly now: () => number };
  /** The requests for the two operations since the last `reset`, in the order of their answers. */
  readonly requests: readonly TestRequest[];
  /** Random faults from now on, checked; `null` for none. */
  faults: FaultSettings | null;
  /**
   * Fails the next `count` requests; by default each is answered with 50001.
   *
   * @throws InvalidInputError for an invalid or unknown member
   */
  failNext(count: number, failure?: TestFailure): void;
  /**
   * Answers requests with an answer of your own, for good or `times` times; later stubs have
   * precedence. Of a function that throws, or returns no answer, the client receives a refusal with
   * the error as its `msg`.
   *
   * @throws InvalidInputError for an invalid or unknown member
   */
  stub(
    answer:
      | TestAnswer
      | ((
          request: Pick<TestRequest, 'operation' | 'parameters' | 'userInfo'>,
        ) => TestAnswer | Promise<TestAnswer>),
    limits?: StubLimits,
  ): void;
  /**
   * Adds or replaces a user of the app's tenant.
   *
   * @throws InvalidInputError that names a field
   */
  putUser(user: TestUser): Promise<void>;
  /**
   * Issues a code to a user, and returns it.
   *
   * @throws InvalidInputError for an invalid option
   * @throws NotFoundError (40401)
   */
  issueCode(unionId: string, options?: CodeOptions): Promise<string>;
  /**
   * Moves the clock forwards, in milliseconds: that of the service, and of clients with
   * `clientOptions`. Codes expire, and so does the old secret after a rotation.
   *
   * @throws InvalidInputError for anything but a number from 0
   */
  advanceClock(ms: number): Promise<void>;
  /**
   * The app and the `users` of the options again, and nothing else: no faults, stubs or requests,
   * the true clock.
   */
  reset(): Promise<void>;
}

/** The treatment of the next requests, instead of carrying them out. */
interface Rule {
  /** Undefined for both. */
  readonly operation: OperationName | undefined;
  /** For how many requests more. */
  left: number;
  faultOf(endpoint: Endpoint, exchange: HttpExchange): Fault | Promise<Fault>;
}

function decode(
  endpoint: Endpoint,
  exchange: HttpExchange,
  settings: CheckedSettings,
): Omit<TestRequest, 'answer'> {
  const { parameters } = new ParsedRequest(endpoint, exchange, settings);
  return {
    operation: endpoint.operation,
    target: exchange.target,
    parameters: Object.fromEntries(parameters),
    userInfo: jsonValueOf(parameterText(parameters, 'user_info')) as TestRequest['userInfo'],
  };
}

/** How the next requests are treated: by rules that a test adds, or else by random faults. */
class RequestRules {
  readonly #settings: CheckedSettings;
  readonly #rules: Rule[] = [];
  #faults: FaultSettings | null = null;
  #drawFault: (() => Fault) | null = null;

  constructor(settings: CheckedSettings) {
    this.#settings = settings;
  }

  get faults(): FaultSettings | null {
    return this.#faults;
  }

  set faults(faults: FaultSettings | null) {
    if (faults !== null) checkFaults(faults);
    this.#faults = faults;
    this.#drawFault = faults && faultDrawer(faults);
  }

  failNext(count: number, failure: TestFailure): void {
    if (mustBeCount(count) !== null) {
      throw new InvalidInputError(`failNext: ${String(count)} is not a number of requests`);
    }
    checkFailure(failure);
    this.#rules.push({
      operation: failure.operation,
      left: count,
      faultOf: () => failureOf(failure, this.#settings),
    });
  }

  stub(answer: Parameters<TestService['stub']>[0], limits: StubLimits): void {
    checkStub(answer, limits);
    const { operation, times = Number.POSITIVE_INFINITY } = limits;
    this.#rules.push({
      operation,
      left: times,
      faultOf: (endpoint, exchange) => {
        if (typeof answer !== 'function') return stubbed(answer, this.#settings);
        return stubbed(() => answer(decode(endpoint, exchange, this.#settings)), this.#settings);
      },
    });
  }

  /** The treatment of a request: the latest rule for it has precedence, and counts it. */
  async faultOf(endpoint: Endpoint, exchange: HttpExchange): Promise<Fault> {
    const rule = this.#rules.findLast(
      ({ operation = endpoint.operation, left }) => left > 0 && operation === endpoint.operation,
    );
    if (rule === undefined) return this.#drawFault?.() ?? {};
    rule.left -= 1;
    return rule.faultOf(endpoint, exchange);
  }

  clear(): void {
    this.#rules.splice(0);
    this.faults = null;
  }
}

const { now: _now, faults: _faults, ...inheritedMembers } = serviceMembers;

const testMembers: Shape<TestServiceOptions> = {
  what: 'the options of the test service',
  members: {
    ...inheritedMembers,
    tenantCode: mustBeText,
    channel: mustBeText,
    appKey: mustBeText,
    appSecret: mustBeText,
    users: mustBe('an array of users', (value) => Array.isArray(value) && value.every(isObject)),
  },
};

type CodeOptions = Omit<NewCode, 'tenantCode' | 'unionId'>;

/** The admin checks the values. */
const codeMembers: Shape<CodeOptions> = {
  what: 'the options of issueCode',
  members: {
    infoNames: mustBeTexts,
    ttlSeconds: () => null,
    uses: () => null,
  },
};

const mustBeAdvance = mustBe(
  'a number of milliseconds from 0',
  (value) => Number.isFinite(value) && Number(value) >= 0,
);

/** The clock of a service for tests. */
class TestClock {
  /** By how much it is ahead of the clock of this machine, in milliseconds. */
  #aheadMs = 0;

  /** Unix time in milliseconds. */
  readonly now = (): number => Date.now() + this.#aheadMs;

  /** Moves it ahead, and returns by how many whole seconds it is further ahead than before. */
  advance(ms: number): number {
    const before = Math.floor(this.#aheadMs / 1000);
    this.#aheadMs += ms;
    return Math.floor(this.#aheadMs / 1000) - before;
  }

  reset(): void {
    this.#aheadMs = 0;
  }
}

/** @internal Starts a service with what tests need around it; `start` starts the service itself. */
export async function startTestService(
  options: TestServiceOptions,
  start: (options: ServiceOptions, extension: ServerExtension) => Promise<Service>,
): Promise<TestService> {
  checkMembers(testMembers, options);
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
  const rules = new RequestRules(settings);
  const clock = new TestClock();
  let store: Store;
  const extension: ServerExtension = (responder, opened) => {
    store = opened;
    return injectFaults(
      responder,
      (endpoint, exchange) => rules.faultOf(endpoint, exchange),
      (endpoint, exchange, answer) => {
        requests.push({
          ...decode(endpoint, exchange, settings),
          answer: answer && { httpStatus: answer.status, body: answer.body },
        });
      },
    );
  };
  const now = () => clock.now() + (rules.faults?.skewSeconds ?? 0) * 1000;
  const service = await start({ ...serviceOptions, now }, extension);
  const { admin } = service;
  const app: TestApp = { tenantCode, channel, appKey, appSecret };

  const test: TestService = {
    ...service,
    clientOptions: { ...app, baseUrl: service.url, now: clock.now },
    requests,
    get faults() {
      return rules.faults;
    },
    set faults(faults) {
      rules.faults = faults;
    },
    failNext: (count, failure = {}) => rules.failNext(count, failure),
    stub: (answer, limits = {}) => rules.stub(answer, limits),
    putUser: ({ basic_info = {}, extension_info = {}, login_device_info = [], ...rest }) =>
      admin.putUser({
        tenant_code: tenantCode,
        basic_info,
        extension_info,
        login_device_info,
        ...rest,
      }),
    async issueCode(unionId, options = {}) {
      checkMembers(codeMembers, options);
      const { code } = await admin.issueCode({ tenantCode, unionId, ...options });
      return code;
    },
    async advanceClock(ms) {
      const fault = mustBeAdvance(ms);
      if (fault !== null) throw new InvalidInputError(`advanceClock: what was given ${fault}`);
      await store.age(clock.advance(ms));
    },
    async reset() {
      await service.reset();
      requests.splice(0);
      rules.clear();
      clock.reset();
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
