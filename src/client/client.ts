import { secretDoubts } from '../core/contract/doubts.js';
import type { OperationName } from '../core/contract/endpoints.js';
import { InvalidInputError } from '../core/contract/errors.js';
import type { UserInfo } from '../core/contract/user-info.js';
import { Secret } from '../core/signing/secret.js';
import type { Answer, PassbackAnswer, ReadAnswer } from './call/answer.js';
import { CallClient } from './call/call-client.js';
import type { CallOptions, DerivedOptions, UserInfoClientOptions } from './call/options.js';
import {
  buildCheckedPassback,
  buildRead,
  type PassbackInput,
  type ReadInput,
} from './call/request.js';
import type { WireRequest } from './call/sign-request.js';
import { optionsFromEnvironment } from './environment.js';
import type { RowOutcome } from './rows/outcome.js';
import {
  type BulkRunOptions,
  type OfPassbackRows,
  type PassbackOutcome,
  type PassbackRow,
  type ReadOutcome,
  sendAll,
} from './rows/send-all.js';

const callClientKey = Symbol('calls');

/**
 * Client for the operations of §4. Each attempt of a call is signed anew.
 *
 * Calls throw an InvalidInputError (nothing was sent), a RejectedError (the service answered with a
 * code other than 200), a NoAnswerError (no valid answer came) or a CancelledError. Each says by
 * `retryable` whether the same call can be made again.
 *
 * @group Client
 * @example
 * const client = new UserInfoClient({
 *   baseUrl: 'https://users.example.com',
 *   tenantCode: 'acme',
 *   channel: 'web',
 *   appKey: 'app-1',
 *   appSecret: process.env.USERINFO_APP_SECRET ?? '',
 * });
 * const { data } = await client.read({ code, infoNames: ['mobile', 'acme_level'] });
 * await client.passback({ unionId: data.union_id, userInfo: { acme_level: 'gold' } });
 * await client.close();
 */
export class UserInfoClient implements AsyncDisposable {
  /**
   * @internal Not a private field: containers of dependencies put objects into a Proxy, which has
   * none of those.
   */
  declare readonly [callClientKey]: CallClient;

  /**
   * @throws InvalidInputError that names the invalid option: missing, empty, unknown, of the wrong
   * type or out of range; or a base URL of plain http to another machine without `allowHttp`
   * @throws RecipeError for an invalid recipe
   */
  constructor(options: UserInfoClientOptions) {
    const callClient = new CallClient(options);
    setCallClient(this, callClient);
    const { appSecret } = callClient.options;
    if (!(appSecret instanceof Secret)) return;
    for (const warning of secretDoubts(appSecret, options.appKey))
      callClient.hooks.warn('UserInfoDoubtWarning', warning);
  }

  /**
   * A client with the variables of the command line: `USERINFO_BASE_URL`, `USERINFO_TENANT_CODE`,
   * `USERINFO_CHANNEL`, `USERINFO_APP_KEY`, `USERINFO_APP_SECRET`, and, if set, `USERINFO_PROXY`,
   * `USERINFO_CA_FILE` and `USERINFO_PLATFORM`. Files are read now. Without `USERINFO_PROXY`, the
   * proxy is that of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as for the command line. `options`
   * take precedence. Profiles are not read: `fromProfile` of `userinfo-exchange/profiles` does.
   *
   * `env` are the environment variables.
   *
   * @throws InvalidInputError that lists the variables that are missing, or names one that is
   * invalid; also if `USERINFO_PROFILE` is set
   * @example
   * await using client = UserInfoClient.fromEnv({ timeoutMs: 2_000 });
   */
  static fromEnv(
    options: Partial<UserInfoClientOptions> = {},
    env: Readonly<Record<string, string | undefined>> = process.env,
  ): UserInfoClient {
    return new UserInfoClient(optionsFromEnvironment(options, env));
  }

  /**
   * A client of the same class with some other options. It shares the connections of this one, and
   * its recipes unless the options have others. Its constructor is not called: what a subclass keeps
   * in properties is copied. `close` of this client ends the derived client too; `close` of the
   * derived client leaves the connections open.
   *
   * @throws InvalidInputError for an invalid option, or one of the connections; RecipeError for an
   * invalid recipe
   * @example
   * const other = client.withOptions({ tenantCode: 'acme-test', timeoutMs: 2_000 });
   */
  withOptions(options: DerivedOptions): this {
    const callClient = callClientOf(this).withOptions(options);
    const copy: this = Object.assign(Object.create(Object.getPrototypeOf(this)), this);
    return setCallClient(copy, callClient);
  }

  /**
   * Reads a user's information (§4.1).
   *
   * @throws InvalidInputError, RejectedError, NoAnswerError, CancelledError
   * @example
   * const { data } = await client.read({ code, infoNames: ['mobile', 'acme_level'] });
   * const mobile: string | undefined = data.mobile;
   */
  async read<const Name extends string = never>(
    input: ReadInput<Name>,
    options: CallOptions = {},
  ): Promise<ReadAnswer<Name>> {
    return (await callClientOf(this).send(
      buildRead(input),
      options,
    )) as unknown as ReadAnswer<Name>;
  }

  /**
   * Passes information about a user back (§4.2).
   *
   * @throws InvalidInputError, RejectedError, NoAnswerError, CancelledError
   * @example
   * await client.passback({ unionId: 'u1', userInfo: { mobile: '13800001111', acme_level: 'gold' } });
   * await client.passback({ primaryKey: 'mobile', userInfo: { mobile: '13800001111', acme_vip: true } });
   */
  async passback<const Info extends object = UserInfo>(
    input: PassbackInput<Info>,
    options: CallOptions = {},
  ): Promise<PassbackAnswer> {
    return (await callClientOf(this).send(buildCheckedPassback(input), options)) as PassbackAnswer;
  }

  /**
   * Returns the signed request of a read, without sending it. Its `random` can be used once.
   *
   * @throws InvalidInputError, also if a signer returns a promise, or `appSecret` is a function
   * that returns one and no call was made yet
   * @example
   * const { url } = client.signRead({ code });
   */
  signRead<const Name extends string = never>(input: ReadInput<Name>): WireRequest {
    return callClientOf(this).sign(buildRead(input));
  }

  /**
   * Returns the signed request of a passback, without sending it. Its `random` can be used once.
   *
   * @throws InvalidInputError, also if a signer returns a promise, or `appSecret` is a function
   * that returns one and no call was made yet
   * @example
   * const { method, url, body } = client.signPassback({ unionId: 'u1', userInfo: { acme_level: 'gold' } });
   */
  signPassback<const Info extends object = UserInfo>(input: PassbackInput<Info>): WireRequest {
    return callClientOf(this).sign(buildCheckedPassback(input));
  }

  /**
   * Passes back many rows (§4.2), and yields the outcome of each as it arrives: `ok`, `failed` (not
   * written: refused by the service, throttled to the last attempt, or not reached), `invalid`
   * (never sent: the row breaks a rule of §4, or is not a row) or `unknown` (sent, but no answer
   * says whether it was written).
   *
   * Rows are read one at a time, and the request of each is built before the next one is read: a
   * source may reuse one object. Rows of one user are sent one after the other. Outcomes that are
   * not consumed hold back further rows: at most about 1,024 outcomes wait, and 33 rows are read
   * ahead, or 16 for each request under way (at least 512) where rows of the same user wait for
   * each other. The source is closed when the loop over the outcomes is left, or the run ends.
   *
   * @throws InvalidInputError at the call, for an option that is out of range, or if the client is
   * closed
   * @throws RejectedError, NoAnswerError from the loop, for an error that concerns every row: a
   * refused signature, an unknown app, a service that cannot be reached, a first secret that a
   * function does not return. A row without an outcome was not written then, or it is not certain.
   * @throws RetryLaterError from the loop, if `Retry-After` asks for a pause longer than the
   * time-out of an attempt and than 5 minutes
   * @throws CancelledError from the loop, if the signal or `close` ended the run; its `received`
   * says whether a row without an outcome may have been written
   * @example
   * const rows = [{ unionId: 'u1', userInfo: { acme_level: 'gold' } }];
   * for await (const { row, outcome } of client.passbackAll(rows, { ratePerSecond: 200 })) {
   *   if (outcome !== 'ok') console.warn(row.unionId, outcome);
   * }
   */
  passbackAll<Row extends PassbackRow>(
    rows: (Iterable<Row> | AsyncIterable<Row>) & OfPassbackRows<Row>,
    options: BulkRunOptions = {},
  ): AsyncGenerator<PassbackOutcome<Row>, void> {
    return sendAll('passback', rows, callClientOf(this), options) as AsyncGenerator<
      PassbackOutcome<Row>,
      void
    >;
  }

  /**
   * Reads with many codes (§4.1), in the same way as `passbackAll`. A code is sent again only if it
   * is certain that it was not used.
   *
   * @throws the same errors as `passbackAll`
   * @example
   * for await (const result of client.readAll([{ code, infoNames: ['mobile'] }])) {
   *   if (result.outcome === 'ok') console.log(result.answer.data.mobile);
   * }
   */
  readAll<const Row extends ReadInput>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options: BulkRunOptions = {},
  ): AsyncGenerator<ReadOutcome<Row>, void> {
    return sendAll('read', rows, callClientOf(this), options) as AsyncGenerator<
      ReadOutcome<Row>,
      void
    >;
  }

  /**
   * Waits for the calls under way, at most for their `timeoutMs`, and closes the client's own
   * connections. A bulk run sends no more rows, and ends when those under way are answered. With
   * `force`, calls and runs end now, with a CancelledError. Later calls throw an InvalidInputError.
   *
   * @example
   * process.on('SIGTERM', () => client.close());
   */
  close(options: { readonly force?: boolean } = {}): Promise<void> {
    return callClientOf(this).close(options);
  }

  /** Closes the client at the end of the block of `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What a program has for each operation: one call, its signed request, and a call for each row. */
type OperationMethods = Record<
  OperationName,
  (input: never, options?: CallOptions) => Promise<Answer<unknown>>
> &
  Record<`sign${Capitalize<OperationName>}`, (input: never) => WireRequest> &
  Record<
    `${OperationName}All`,
    (rows: never, options?: BulkRunOptions) => AsyncGenerator<RowOutcome<never>, void>
  >;

// Not `implements`, which would make the type a part of the public declarations.
UserInfoClient.prototype satisfies OperationMethods;

function setCallClient<Client extends UserInfoClient>(
  client: Client,
  callClient: CallClient,
): Client {
  return Object.defineProperty(client, callClientKey, { value: callClient });
}

/** @throws InvalidInputError for a method that was detached from its client */
function callClientOf(client: UserInfoClient): CallClient {
  const callClient = (client as UserInfoClient | undefined)?.[callClientKey];
  if (callClient !== undefined) return callClient;
  throw new InvalidInputError(
    'a method of UserInfoClient was called without its client: nothing was sent',
    { hint: 'Call it as client.read(…), or pass (input) => client.read(input).' },
  );
}
