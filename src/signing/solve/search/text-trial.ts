import type { ByteText } from '../lanes/byte-text.js';
import type { TextChain } from './text-chain.js';
import type { Trial } from './trial.js';

/** Tries each message by itself. */
export function textTrial(fits: TextChain): Trial {
  let kept = '';
  const tryText = (message: string, bits: number) => (fits(message) ? { message, bits } : null);
  return {
    keep: (beginning) => {
      kept = beginning.text;
    },
    tryKept: (second, third, bits) => tryText(kept + textOf(second) + textOf(third), bits),
    tryWhole: (first, second, third, bits) => tryText(textOf(first) + textOf(second) + textOf(third), bits),
    flush: () => null,
  };
}

function textOf(bytes: ByteText): string {
  return bytes.length === 0 ? '' : bytes.text;
}
