// A platform that signs otherwise: `userinfo sign solve` finds such recipes, a platform file keeps
// them.
import type { PlatformFile } from 'userinfo-exchange';

/**
 * `HMAC-SHA256(sorted parameters, secret)` in upper-case hex, and a header that the gateway wants.
 */
export const platform: PlatformFile = {
  signing: {
    app_sign: {
      params: { order: ['timestamp', 'app_key'] },
      message: ['$params'],
      steps: ['hmac-sha256'],
    },
    sign: {
      params: { empty: 'drop' },
      message: ['$params'],
      steps: ['hmac-sha256'],
      output: 'HEX',
    },
  },
  result_codes: { 1001: 'tooManyRequests', 2001: 'noSuchUser' },
};

// new UserInfoClient({ …, platform })
