/**
 * The SDK.
 *
 * @module userinfo-exchange
 */

export type { Answer, AnswerHeaders, PassbackAnswer, ReadAnswer } from './client/call/answer.js';
export type {
  DispatchController,
  DispatchedRequest,
  Dispatcher,
  DispatchHandler,
} from './client/call/dispatcher.js';
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
} from './client/call/errors.js';
export type {
  CallTrace,
  ClientHooks,
  Logger,
  NoAnswerEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from './client/call/hooks.js';
export type {
  CallOptions,
  DerivedOptions,
  HeaderProvider,
  SecretProvider,
  UserInfoClientOptions,
  VaultSecret,
} from './client/call/options.js';
export type { PassbackInput, ReadInput } from './client/call/request.js';
export type { WireRequest } from './client/call/sign-request.js';
export { UserInfoClient } from './client/client.js';
export type { Outcome, RowOutcome } from './client/rows/outcome.js';
export type { BulkRunOptions, PassbackOutcome, ReadOutcome } from './client/rows/send-all.js';
export type { OperationName } from './core/contract/endpoints.js';
export type { Envelope } from './core/contract/envelope.js';
export { InvalidInputError, UserInfoError } from './core/contract/errors.js';
export type {
  InfoName,
  JsonValue,
  NamedReadData,
  PlatformNames,
  ReadData,
  SpecialInfo,
  TenantInfo,
  WholeReadData,
} from './core/contract/read-data.js';
export type { PlatformResultCode, PlatformResultCodes } from './core/contract/result-code-table.js';
export type { ResultCodeName } from './core/contract/result-codes.js';
export {
  type FlatUserInfo,
  JsonNumber,
  type UserInfo,
  type UserInfoValue,
} from './core/contract/user-info.js';
export type {
  BasicInfo,
  ExtensionInfo,
  LoginDevice,
  UserRecord,
} from './core/contract/user-record.js';
export type { PlatformFile } from './core/platform/platform.js';
export type { RequestSigners, Signers } from './core/signing/app-signatures.js';
export { compileRecipe } from './core/signing/compile-recipe.js';
export { moduleSigner, type SignerModule } from './core/signing/module-signer.js';
export { defaultRecipes, type Preset, presets } from './core/signing/presets.js';
export {
  type Recipe,
  RecipeError,
  type RecipeJson,
  type SigningRecipes,
} from './core/signing/recipe.js';
export type { Param, SignableRequest } from './core/signing/request.js';
export { Secret } from './core/signing/secret.js';
export type { Explanation, RequestSigner, Signature, Signer } from './core/signing/signer.js';
