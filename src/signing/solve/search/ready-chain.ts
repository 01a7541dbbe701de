import type { Chain } from '../space/chain.js';
import { compileChain, type Digester } from './digester.js';

/** A digest chain, ready to be tried. */
export interface ReadyChain {
  readonly chain: Chain;
  readonly fits: Digester;
}

export function readyChains(chains: readonly Chain[]): ReadyChain[] {
  return chains.map((chain) => ({ chain, fits: compileChain(chain) }));
}
