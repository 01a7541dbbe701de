/**
 * Code that may be written on several lines: a text, parts, or a group that has a line for each of
 * its items.
 */
export type SourceCode = string | readonly SourceCode[] | Group;

interface Group {
  readonly open: string;
  readonly items: readonly SourceCode[];
  readonly close: string;
  readonly separator: string;
  /** After the last of items in lines. */
  readonly last: string;
  /**
   * In place of `open` and `close` around items in lines; null for none, where the first item stays
   * in its line.
   */
  readonly brackets: readonly [open: string, close: string] | null;
}

/**
 * Items between brackets, in one line or in a line each.
 *
 * @default separator `, `; nothing after the last item; the brackets without the space inside
 */
export function group(
  open: string,
  items: readonly SourceCode[],
  close: string,
  {
    separator = ', ',
    last = '',
    brackets = [open.trimEnd(), close.trimStart()],
  }: Partial<Group> = {},
): SourceCode {
  return { open, items, close, separator, last, brackets };
}

interface Layout {
  readonly indent: string;
  readonly width: number;
}

/**
 * Code in lines that are not too long, if it can be broken; `used` is the part of the first line
 * before it.
 */
export function written(
  code: SourceCode,
  layout: Layout,
  margin: string,
  used = margin.length,
): string {
  const whole = flat(code);
  if (used + whole.length <= layout.width || typeof code === 'string') return whole;
  if (isParts(code)) return writtenParts(code, layout, margin, used);
  const { items, separator, last, brackets } = code;
  const inner = margin + layout.indent;
  const room = { ...layout, width: layout.width - separator.length };
  const lines = items
    .map((item, index) => written(item, room, index === 0 && brackets === null ? margin : inner))
    .join(`${separator.trimEnd()}\n${inner}`);
  if (items.length === 0) return whole;
  if (brackets === null) return lines;
  const [open, close] = brackets;
  return `${open}\n${inner}${lines}${last}\n${margin}${close}`;
}

function writtenParts(
  parts: readonly SourceCode[],
  layout: Layout,
  margin: string,
  used: number,
): string {
  let text = ' '.repeat(used);
  for (const [index, part] of parts.entries()) {
    const [after = ''] = flat(parts.slice(index + 1)).split(/[([{]/);
    const room = { ...layout, width: layout.width - after.length };
    text += written(part, room, margin, text.length - text.lastIndexOf('\n') - 1);
  }
  return text.slice(used);
}

/** Code in one line. */
export function flat(code: SourceCode): string {
  if (typeof code === 'string') return code;
  if (isParts(code)) return code.map(flat).join('');
  return code.open + code.items.map(flat).join(code.separator) + code.close;
}

function isParts(code: Exclude<SourceCode, string>): code is readonly SourceCode[] {
  return Array.isArray(code);
}
