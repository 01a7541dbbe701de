import { compileLanes } from '../lanes/lane-digest.js';
import { Room } from '../lanes/lane-memory.js';
import type { Chain } from '../space/chain.js';
import { LaneTrial, wantedWord } from './lane-trial.js';
import { compileText } from './text-chain.js';
import { textTrial } from './text-trial.js';
import type { Trial } from './trial.js';

/** A digest chain, ready to be tried. */
export interface ReadyChain {
  readonly chain: Chain;
  /** Made when it is asked for first: of many chains few are tried before a search ends. */
  trial(): Trial;
  /** The trial, where it was asked for. */
  readonly begun: Trial | null;
}

export function readyChains(chains: readonly Chain[]): ReadyChain[] {
  const room = new Room();
  return chains.map((chain) => {
    let begun: Trial | null = null;
    return {
      chain,
      trial: () => (begun ??= compileChain(chain, room)),
      get begun() {
        return begun;
      },
    };
  });
}

/** The chain as a trial, for millions of messages. */
export function compileChain(chain: Chain, room: Room): Trial {
  const { digest, cut } = chain.reading;
  const fits = compileText(chain);
  const lanes = compileLanes(chain, room);
  const wanted = lanes && wantedWord(digest, cut, lanes.compressor.bigEndian);
  return lanes === null || wanted === null ? textTrial(fits) : new LaneTrial(lanes, wanted, fits);
}
