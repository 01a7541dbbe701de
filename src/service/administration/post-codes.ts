import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback, urlHost } from '../../core/contract/base-url.js';
import { jsonContentType } from '../../core/contract/envelope.js';
import { InvalidInputError, UserInfoError } from '../../core/contract/errors.js';
import {
  checkMembers,
  mustBe,
  mustBeText,
  mustBeTexts,
  type Shape,
} from '../../core/contract/members.js';
import type { Secret } from '../../core/signing/secret.js';
import { jsonFault } from '../../core/support/json.js';
import { StoreUnavailableError } from '../database/errors.js';
import type { HttpAnswer } from '../http/exchange.js';
import { type Log, logFault } from '../log.js';
import type { CodeOperations } from './codes.js';

/** Maximum number of codes of a request. */
const maxCodes = 500;

/** Maximum size of a body, in bytes: so many union IDs of the maximum length fit. */
const maxBytes = 1_048_576;

/**
 * A shorter token could be guessed; clients encode other characters of a header in different ways.
 */
const possibleToken = /^[\x20-\x7e]{16,}$/;

/**
 * Answers `POST /codes` on an address: issues codes to the users that its body names, if it carries
 * one of the tokens.
 *
 * @throws InvalidInputError for a token that is too short, or that a header cannot carry
 */
export function answerCodes(
  tokens: readonly Secret[],
  host: string,
  { issueCodes }: Pick<CodeOperations, 'issueCodes'>,
  log: Log,
) {
  if (tokens.some((token) => !possibleToken.test(token.reveal()))) {
    throw new InvalidInputError(
      'an admin token has fewer than 16 characters, or some that are not ASCII',
      {
        hint: 'Create one:',
        commands: ['openssl rand -hex 32'],
      },
    );
  }
  if (!isLoopback(urlHost(host))) log({ event: 'unencrypted_token', host });
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  const expected = tokens.map((token) => digestOf(`Bearer ${token.reveal()}`));
  return async (request: IncomingMessage): Promise<HttpAnswer> => {
    const { method, headers } = request;
    if (method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'POST issues codes');
    // Digests have one length, and all are compared: that takes the same time for every token.
    const received = digestOf((headers.authorization ?? '').replace(/^bearer +/i, 'Bearer '));
    if (!expected.map((digest) => timingSafeEqual(received, digest)).includes(true)) {
      return refusal(401, 'WRONG_TOKEN', 'the request does not carry an admin token');
    }
    const size = headers['content-length'];
    if (size === undefined) return refusal(411, 'LENGTH_REQUIRED', 'Content-Length is missing');
    if (Number(size) > maxBytes)
      return refusal(413, 'TOO_LARGE', `a body has at most ${maxBytes} bytes`);
    const body = await request.toArray().catch(() => null);
    if (body === null) return refusal(400, 'CUT_OFF', 'the body is cut off');
    try {
      const codes = await issueCodes(parseBody(Buffer.concat(body)));
      return { status: 200, type: jsonContentType, body: JSON.stringify({ codes }) };
    } catch (error) {
      logFault(log, error);
      if (!(error instanceof UserInfoError)) return refusal(500, 'FAULT', 'the service failed');
      return refusal(error instanceof StoreUnavailableError ? 503 : 400, error.code, error.message);
    }
  };
}

function refusal(status: number, code: string, message: string): HttpAnswer {
  return { status, type: jsonContentType, body: JSON.stringify({ error: { code, message } }) };
}

const isNumber = (value: unknown) => typeof value === 'number';

const bodyMembers: Shape = {
  what: 'the body',
  members: {
    tenant_code: mustBeText,
    union_ids: mustBe(`a list of 1 to ${maxCodes} texts`, (value) => {
      const length = mustBeTexts(value) === null ? (value as unknown[]).length : 0;
      return length > 0 && length <= maxCodes;
    }),
    info_names: mustBeTexts,
    ttl_seconds: mustBe('a number', isNumber),
    uses: mustBe('a number, or "unlimited"', (value) => value === 'unlimited' || isNumber(value)),
  },
  required: ['tenant_code', 'union_ids'],
};

/** @throws InvalidInputError that names the field */
function parseBody(body: Buffer): Parameters<CodeOperations['issueCodes']>[0] {
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    json = JSON.parse(text);
  } catch {
    throw new InvalidInputError('the body is not JSON');
  }
  // JSON.parse keeps the last of duplicate keys.
  const fault = jsonFault(text);
  if (fault !== null) throw new InvalidInputError(`the body: ${fault}`);
  checkMembers(bodyMembers, json);
  const { tenant_code, union_ids, info_names, ttl_seconds, uses } = json as Readonly<
    Record<string, unknown>
  >;
  const wanted = {
    tenantCode: tenant_code,
    unionIds: union_ids,
    infoNames: info_names,
    ttlSeconds: ttl_seconds,
    uses,
  };
  return wanted as Parameters<CodeOperations['issueCodes']>[0];
}
