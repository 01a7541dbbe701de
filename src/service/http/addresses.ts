import { BlockList, isIP } from 'node:net';

/** IPv4 is written as such where the service listens on IPv6, too. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '');
}

/** Addresses, and ranges of them as `10.0.0.0/8`. */
export function addressRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** Whether a text is an address of the list. */
export function isAmong(list: BlockList, text: string): boolean {
  const address = plainAddress(text);
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** The network of an address that counts as one client: an IPv6 client has 64 bits to itself. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address)
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

/** The groups of an IPv6 address, with those that `::` leaves out. */
function groupsOf(address: string): string[] {
  const [before = '', after] = address.replace(/%.*$/, '').split('::');
  const first = before.split(':').filter((group) => group !== '');
  if (after === undefined) return first;
  const last = after.split(':').filter((group) => group !== '');
  // An IPv4 address at the end stands for two groups.
  const written = first.length + last.length + Number(address.includes('.'));
  return [...first, ...Array<string>(Math.max(0, 8 - written)).fill('0'), ...last];
}
