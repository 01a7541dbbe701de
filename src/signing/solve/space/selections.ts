import type { ParamsRule } from '../../recipe.js';
import type { Param } from '../../request.js';
import { oneIn, sortByBits, type Weighed } from './choice.js';
import { type ParameterRole, roleOf } from './parameter-role.js';

/** Which parameters take part. */
export interface Selection extends Weighed {
  readonly rule: Pick<ParamsRule, 'exclude' | 'include' | 'empty' | 'nameCase' | 'joinRepeated'>;
}

/** How rare it is that a parameter of this role is left out of the message by name. */
const exclusionBits: Readonly<Record<ParameterRole, number>> = {
  signing: 2.2,
  session: 3.5,
  app: 5.5,
  time: 5.5,
  nonce: 5.5,
  other: 4.5,
};

/** Names of signatures: one that another signature covers is in or out with much the same right. */
const signatureName = /sign|^sig$/i;

/** The selections whose price is within `bound`, the likeliest first; `names` are those of all samples. */
export function selections(params: readonly Param[], names: readonly string[], bound: number): Selection[] {
  const found: Selection[] = [];
  const { foldings, joinings } = foldingsOf(params);
  for (const { fields, bits } of [...exclusions(names, bound), ...inclusions(names, bound)]) {
    for (const [empty, emptyBits] of [
      ['keep', 1.1],
      ['drop', 0.9],
    ] as const) {
      for (const [nameCase, caseBits] of foldings) {
        for (const [joinRepeated, joinBits] of joinings) {
          const total = bits + emptyBits + caseBits + joinBits;
          if (total > bound) continue;
          const fold = caseFolds[nameCase];
          found.push({
            rule: {
              exclude: fields.exclude.map(fold),
              include: fields.include?.map(fold) ?? null,
              empty,
              nameCase,
              joinRepeated,
            },
            bits: total,
          });
        }
      }
    }
  }
  return sortByBits(found);
}

const caseFolds = {
  none: (text: string) => text,
  lower: (text: string) => text.toLowerCase(),
  upper: (text: string) => text.toUpperCase(),
} as const;

function foldingsOf(params: readonly Param[]) {
  const isRepeated = new Set(params.map(([name]) => name)).size < params.length;
  const foldings = [
    ['none', 0.1],
    ['lower', 6],
    ['upper', 6],
  ] as const;
  const joinings: readonly (readonly [string | null, number])[] = isRepeated
    ? [
        [null, 1],
        [',', 1.5],
        ['', 3],
        ['|', 4],
        [';', 4],
      ]
    : [[null, 0]];
  return { foldings, joinings };
}

interface NameLists extends Weighed {
  readonly fields: Pick<ParamsRule, 'exclude' | 'include'>;
}

/** None left out, then one, two and three; then everything that is there for the call's sake. */
function exclusions(names: readonly string[], bound: number): NameLists[] {
  const priced = names.map((name) => ({ name, bits: exclusionPrice(name, names) }));
  const lists: NameLists[] = [{ fields: { exclude: [], include: null }, bits: 0.3 }];
  const extend = (from: number, chosen: readonly string[], bits: number) => {
    if (chosen.length === 3) return;
    for (let index = from; index < priced.length; index++) {
      const next = priced[index];
      if (next === undefined || bits + next.bits > bound) continue;
      const exclude = [...chosen, next.name];
      lists.push({ fields: { exclude, include: null }, bits: bits + next.bits });
      extend(index + 1, exclude, bits + next.bits);
    }
  };
  extend(0, [], 0.3);
  const system = names.filter((name) => roleOf(name) !== 'other');
  if (system.length > 1 && system.length < names.length) {
    lists.push({ fields: { exclude: system, include: null }, bits: 4 });
    const proof = names.filter((name) => ['app', 'time', 'nonce'].includes(roleOf(name)));
    if (proof.length > 0) lists.push({ fields: { exclude: proof, include: null }, bits: 4 });
  }
  return lists;
}

function exclusionPrice(name: string, names: readonly string[]): number {
  if (signatureName.test(name)) return 1.8;
  const role = roleOf(name);
  const alike = names.filter((other) => roleOf(other) === role).length;
  return exclusionBits[role] + oneIn(alike) * 0.7;
}

/** Up to four of many. */
function inclusions(names: readonly string[], bound: number): NameLists[] {
  const lists: NameLists[] = [];
  const priced = names.map((name) => ({ name, bits: inclusionPrice(name, names) }));
  const extend = (from: number, chosen: readonly string[], bits: number) => {
    if (chosen.length === 4) return;
    for (let index = from; index < priced.length; index++) {
      const next = priced[index];
      if (next === undefined || bits + next.bits > bound) continue;
      const include = [...chosen, next.name];
      if (include.length < names.length)
        lists.push({ fields: { exclude: [], include }, bits: bits + next.bits });
      extend(index + 1, include, bits + next.bits);
    }
  };
  extend(0, [], 4);
  return lists;
}

function inclusionPrice(name: string, names: readonly string[]): number {
  const role = roleOf(name);
  return role === 'app' || role === 'time' || role === 'nonce' ? 1.2 : 1 + oneIn(names.length);
}
