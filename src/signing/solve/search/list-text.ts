import { ByteText, byteText } from '../lanes/byte-text.js';
import { messageChanges } from '../space/block-changes.js';
import { once } from '../space/once.js';
import { placeSecret, type SecretPlace } from '../space/value-lists.js';

/** One text of a list by each change of the message: these go character by character, so that parts can be changed. */
export type ListPart = readonly ChangedPart[];

interface ChangedPart {
  readonly bytes: ByteText;
  /** Whether the change does anything to it. */
  readonly differs: boolean;
}

/** A text, as it stands in the message by each of `messageChanges`. */
export function listPart(text: string): ListPart {
  return messageChanges.map(({ apply }) => {
    const changed = apply(text);
    return { bytes: byteText(changed), differs: changed !== text };
  });
}

/** Which part of a list comes when, by their numbers; the secret has one as well. */
export type PartOrder = readonly number[];

const secretPart = -1;

/** The order of a list of so many parts with the secret in its place; null where there is no such place. */
export function orderFor(place: SecretPlace): (length: number) => PartOrder | null {
  return once((length) => placeSecret([...Array(length).keys()], place, secretPart));
}

/** How a list is written. */
export interface ListStyle {
  /** What stands for the secret. */
  readonly secret: ListPart;
  readonly joiner: ListPart;
  /** Which of `messageChanges` the message is changed by. */
  readonly change: number;
}

const slack = 4;

/** Parts put together, as one text at one place for millions of lists. */
export class ListText {
  readonly text = new ByteText(new DataView(new ArrayBuffer(1024)), 0, 0);
  /** Whether the change does anything to it. */
  differs = false;

  /** Puts the parts of a list and the secret together, in this order, by the change of this number. */
  join(list: readonly ListPart[], order: PartOrder, { secret, joiner, change }: ListStyle): ByteText {
    this.text.to = 0;
    this.differs = false;
    for (let index = 0; index < order.length; index++) {
      const part = order[index] as number;
      if (index > 0) this.#add(joiner[change] as ChangedPart);
      this.#add((part === secretPart ? secret : (list[part] as ListPart))[change] as ChangedPart);
    }
    return this.text;
  }

  #add({ bytes: { view: source, from, to }, differs }: ChangedPart): void {
    const { text } = this;
    const end = text.to + to - from;
    if (end + slack > text.view.byteLength) this.#grow(end * 2 + slack);
    for (let offset = 0; offset < to - from; offset += 4) {
      text.view.setInt32(text.to + offset, source.getInt32(from + offset));
    }
    text.to = end;
    if (differs) this.differs = true;
  }

  #grow(size: number): void {
    const { text } = this;
    const grown = new Uint8Array(size);
    grown.set(new Uint8Array(text.view.buffer, 0, text.to));
    text.view = new DataView(grown.buffer);
  }
}
