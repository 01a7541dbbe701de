import type { Param } from '../../../core/signing/request.js';
import { type Choice, choice, oneIn } from './cost.js';

/** The role of a parameter, judged by its name. */
export type ParameterRole = 'app' | 'time' | 'nonce' | 'signing' | 'session' | 'other';

const roles: readonly (readonly [ParameterRole, RegExp])[] = [
  [
    'signing',
    /^_?(?:\w+_)?sign(?:ature)?[_-]?(?:type|method|version|ver|algorithm)?$|^(?:encrypt|digest|hash)_?type$/i,
  ],
  ['time', /time|^ts$|^t$|^date$|stamp/i],
  ['nonce', /nonce|^rand|random|^salt$|^echostr$|^guid$|^req(?:uest)?_?id$|^once$/i],
  [
    'app',
    /^(?:app|api|application|client|consumer|mch|merchant|partner|access|corp|developer|dev|open|pub|pay|sp|oauth_consumer)?[_-]?(?:id|key|code|no|name|access_?key(?:_?id)?)$|^(?:ak|pid|uid|appid|mid|cid|sid|user(?:name)?|account|secretid|pspid)$/i,
  ],
  [
    'session',
    /^(?:access|session|oauth|user|auth|refresh)?[_-]?(?:token|session|session_?key)$|^format$|^callback$|^jsonp$|^charset$/i,
  ],
];

export function roleOf(name: string): ParameterRole {
  return roles.find(([, shape]) => shape.test(name))?.[0] ?? 'other';
}

/** Whether a parameter of this role proves the app: its key, the time or a nonce. */
export function isProof(role: ParameterRole): boolean {
  return role === 'app' || role === 'time' || role === 'nonce';
}

/** Relative frequency of a parameter of this role as a part of its own in a message. */
export const weights: Readonly<Record<ParameterRole, number>> = {
  app: 5,
  time: 5,
  nonce: 5,
  signing: 0.5,
  session: 1,
  other: 1,
};

/** What a payment is: an amount, a currency, an order. */
const payment =
  /amount|currency|^(?:out_?)?(?:sum|total|price|money)$|(?:order|trade|trans(?:action)?|txn|inv(?:oice)?|ref(?:erence)?)(?:_?(?:id|no|number|num|code))?$/i;

export function weighNames(params: readonly Param[]): Choice<string>[] {
  const names = [...new Set(params.map(([name]) => name))];
  const weightOf = (name: string) => (payment.test(name) ? 4 : weights[roleOf(name)]);
  const sum = names.reduce((total, name) => total + weightOf(name), 0);
  return names.map((name) => choice(name, oneIn(sum / weightOf(name))));
}
