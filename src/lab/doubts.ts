import type { RuleGroup } from './groups.js';
import type { LaterKind } from './later-requests.js';

/** What the samples cannot tell, and a request that would. */
export interface Doubt {
  /** What is in doubt, in a word. */
  readonly about: string;
  readonly says: string;
  /** Something that the user can do, as the end of "… settles it". */
  readonly settles: string;
  /**
   * The weight of the groups that differ from the likeliest there: how likely it is that its rule
   * fails.
   */
  readonly weight: number;
}

interface Topic {
  readonly kinds: readonly LaterKind[];
  readonly about: string;
  readonly says: string;
  readonly settles: string;
}

/**
 * In this order: a group is counted once, for the plainest request that it signs in another way.
 */
const topics: readonly Topic[] = [
  {
    kinds: ['read'],
    about: 'reads',
    says: 'These requests do not show how every read is signed.',
    settles: 'Another read',
  },
  {
    kinds: ['read by names'],
    about: 'info_name',
    says: 'Without info_name a request cannot show how its names are signed.',
    settles: 'A read with names',
  },
  {
    kinds: ['read with scope', 'read by names with scope'],
    about: 'scope',
    says: 'Without scope a request cannot show whether it is signed.',
    settles: 'A read with a scope',
  },
  {
    kinds: ['passback by user', 'passback by both'],
    about: 'passbacks',
    says: 'A read cannot show whether the fields of a passback are signed, and how.',
    settles: 'A passback',
  },
  {
    kinds: ['passback by key'],
    about: 'primary_key',
    says: 'Without primary_key a request cannot show how it is signed.',
    settles: 'A passback that names the user by a key',
  },
  {
    kinds: ['read with special characters', 'passback with special characters'],
    about: 'encoding',
    says: 'Plain values cannot show how a space, or characters such as * ~ ( ) and é, are encoded.',
    settles: 'A passback of a value such as "a b*c~d(e)é"',
  },
];

/** Groups that are less likely together are no doubt. */
const leastWeight = 0.001;

/**
 * What the samples of these groups cannot tell; empty where one rule is left for all that userinfo
 * sends.
 */
export function doubtsOf(groups: readonly RuleGroup[]): Doubt[] {
  let rest = groups.slice(1);
  return topics.flatMap(({ kinds, about, says, settles }) => {
    const differs = ({ differsIn }: RuleGroup) => kinds.some((kind) => differsIn.has(kind));
    const weight = rest.filter(differs).reduce((sum, group) => sum + group.weight, 0);
    rest = rest.filter((group) => !differs(group));
    return weight < leastWeight ? [] : [{ about, says, settles, weight }];
  });
}
