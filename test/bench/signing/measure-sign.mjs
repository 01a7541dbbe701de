// Prints how often a second one request is signed, and its two messages are digested: [bare,
// signed].
import { hash } from 'node:crypto';
import { buildRead } from '../../../src/client/call/request.ts';
import { signableRequest } from '../../../src/client/call/sign-request.ts';
import { compileRecipes, signBoth } from '../../../src/core/signing/app-signatures.ts';
import { defaultRecipes } from '../../../src/core/signing/presets.ts';
import { Secret } from '../../../src/core/signing/secret.ts';
import { measure, perSecond } from './cpu-time.mjs';

const turns = 40;
const turnSeconds = 0.05;

const signers = compileRecipes(defaultRecipes);
const secret = new Secret('192006250b4c09247ec02edce69f6a2d');
const request = signableRequest(
  buildRead({ code: 'a-code-of-a-user', infoNames: ['mobile', 'level'] }),
  'https://platform.example.com',
  { tenantCode: 'acme', appKey: 'app_ef2466ee0b2cfda4', channel: 'web' },
  { random: 'jsLVnVXqNoxLxcE1CVrT', timestamp: 1795283538 },
);
const { app_sign, sign } = signBoth(signers, request, secret);
const digests = () => hash('md5', app_sign.message, 'hex') + hash('md5', sign.message, 'hex');
const signing = () => signBoth(signers, request, secret);

for (const warmUp of [digests, signing]) measure({ count: 0, seconds: 0 }, 1, warmUp);
const bare = { count: 0, seconds: 0 };
const signed = { count: 0, seconds: 0 };
// By turns: what slows the machine down slows both down.
for (let turn = 0; turn < turns; turn++) {
  measure(bare, turnSeconds, digests);
  measure(signed, turnSeconds, signing);
}
process.stdout.write(JSON.stringify([perSecond(bare), perSecond(signed)]));
