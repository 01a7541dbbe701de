/** What a parameter is there for, as its name tells. */
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
