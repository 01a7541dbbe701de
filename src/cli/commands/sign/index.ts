import { command } from '../../command.js';
import { declareSignExplain } from './explain.js';
import { declareSignExport } from './export.js';
import { declareSignPresets } from './presets.js';
import { declareSignSolve } from './solve.js';
import { declareSignTry } from './try.js';
import { declareSignVerify } from './verify.js';

export const declareSign = command({
  name: 'sign',
  common: [],
  summary: 'find, verify, explain and export signing rules',
  help: () => import('./help.txt?raw'),
  commands: [
    declareSignExplain,
    declareSignVerify,
    declareSignSolve,
    declareSignTry,
    declareSignExport,
    declareSignPresets,
  ],
});
