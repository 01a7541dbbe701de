import type { Chain } from '../space/chain.js';
import { compileChain, type Digester } from './digester.js';

/** A digest chain, ready to be tried. */
export interface ReadyChain {
  readonly chain: Chain;
  readonly fits: Digester;
}

/** Of many chains few are tried before a search ends: each is made ready when it is tried first. */
export function readyChains(chains: readonly Chain[]): ReadyChain[] {
  return chains.map((chain) => {
    let digester: Digester | null = null;
    return {
      chain,
      fits: (message) => {
        digester ??= compileChain(chain);
        return digester(message);
      },
    };
  });
}
