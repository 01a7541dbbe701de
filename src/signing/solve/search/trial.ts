import type { ByteText } from '../lanes/byte-text.js';

/** A message that has the signature, and what it cost. */
export interface Find {
  readonly message: string;
  readonly bits: number;
}

/** Tries messages by one chain, at once or with later ones: tells of one that fits when it knows. */
export interface Trial {
  /** Keeps a text that many messages begin with. */
  keep(beginning: ByteText): void;
  /** Tries the kept text, and two more behind it. */
  tryKept(second: ByteText, third: ByteText, bits: number): Find | null;
  /** Tries three texts as one message. */
  tryWhole(first: ByteText, second: ByteText, third: ByteText, bits: number): Find | null;
  /** Tries those that wait for others. */
  flush(): Find | null;
}
