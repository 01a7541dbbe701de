import { command } from '../../command.js';
import { declareSignExplain } from './explain.js';
import { declareSignExport } from './export.js';
import { declareSignPresets } from './presets.js';
import { declareSignSolve } from './solve.js';
import { declareSignTry } from './try.js';
import { declareSignVectors } from './vectors.js';
import { declareSignVerify } from './verify.js';

export const declareSign = command({
  name: 'sign',
  summary: 'find, verify, explain and export signing rules',
  description:
    'Explain how a request becomes app_sign and sign, verify signatures, find signing rules, and export them as ' +
    'source code. Only "sign try" sends anything.',
  examples: [
    ['userinfo sign explain read x -p local', 'each stage of the signatures of a read'],
    ['userinfo sign solve --sample request.txt -p local', 'the rule of a valid request'],
  ],
  commands: [
    declareSignExplain,
    declareSignVerify,
    declareSignSolve,
    declareSignTry,
    declareSignExport,
    declareSignVectors,
    declareSignPresets,
  ],
});
