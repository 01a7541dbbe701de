/**
 * The SDK.
 *
 * @module userinfo-exchange
 */

export type { Outcome, RowOutcome } from './bulk/outcome.js';
export type { BulkRunOptions, PassbackOutcome, ReadOutcome } from './bulk/send-all.js';
export type { Answer, AnswerHeaders, PassbackAnswer, ReadAnswer } from './client/answer.js';
export type {
  DispatchController,
  DispatchedRequest,
  Dispatcher,
  DispatchHandler,
} from './client/dispatcher.js';
export {
  CallError,
  CancelledError,
  isUserInfoFailure,
  NoAnswerError,
  type NoAnswerReason,
  RejectedError,
  type RejectionDetails,
  RetryLaterError,
  type UserInfoFailure,
} from './client/errors.js';
export type {
  CallTrace,
  ClientHooks,
  Logger,
  NoAnswerEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from './client/hooks.js';
export type {
  CallOptions,
  DerivedOptions,
  HeaderProvider,
  SecretProvider,
  UserInfoClientOptions,
  VaultSecret,
} from './client/options.js';
export type { PassbackInput, ReadInput } from './client/request.js';
export type { WireRequest } from './client/wire-request.js';
export type { PlatformFile } from './platform/platform.js';
export type { OperationName } from './protocol/endpoints.js';
export type { Envelope } from './protocol/envelope.js';
export { InvalidInputError, UserInfoError } from './protocol/errors.js';
export type {
  InfoName,
  JsonValue,
  NamedReadData,
  PlatformNames,
  ReadData,
  SpecialInfo,
  TenantInfo,
  WholeReadData,
} from './protocol/read-data.js';
export type { PlatformResultCode, PlatformResultCodes } from './protocol/result-code-table.js';
export type { ResultCodeName } from './protocol/result-codes.js';
export { type FlatUserInfo, JsonNumber, type UserInfo, type UserInfoValue } from './protocol/user-info.js';
export type { BasicInfo, ExtensionInfo, LoginDevice, UserRecord } from './protocol/user-record.js';
export { UserInfoClient } from './sdk/client.js';
export type { RequestSigners, Signers } from './signing/app-signatures.js';
export { compileRecipe } from './signing/compile-recipe.js';
export { moduleSigner, type SignerModule } from './signing/module-signer.js';
export { defaultRecipes, type Preset, presets } from './signing/presets.js';
export { type Recipe, RecipeError, type RecipeJson, type SigningRecipes } from './signing/recipe.js';
export type { Param, SignableRequest } from './signing/request.js';
export { Secret } from './signing/secret.js';
export type { Explanation, RequestSigner, Signature, Signer } from './signing/signer.js';
