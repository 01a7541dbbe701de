import type { Command } from 'commander';
import { addGroup } from '../../command.js';
import type { CliContext } from '../../context.js';
import { declareSignExplain } from './explain.js';
import { declareSignPresets } from './presets.js';
import { declareSignSolve } from './solve.js';
import { declareSignVectors } from './vectors.js';
import { declareSignVerify } from './verify.js';

export function declareSign(program: Command, context: CliContext): void {
  const sign = addGroup(program, {
    name: 'sign',
    summary: 'explain and verify signatures, and find signing rules',
    description:
      'Explain how a request becomes app_sign and sign, verify signatures, and find signing rules. Nothing is sent.',
    examples: [
      ['userinfo sign explain read x -p local', 'each stage of the signatures of a read'],
      ['userinfo sign solve --sample request.txt -p local', 'the rule of a valid request'],
    ],
  });
  declareSignExplain(sign, context);
  declareSignVerify(sign, context);
  declareSignSolve(sign, context);
  declareSignVectors(sign, context);
  declareSignPresets(sign, context);
}
