interface Place {
  readonly at: number;
  /** The number of open brackets. */
  readonly depth: number;
}

/** The places of a line of code that are not inside a literal. */
export function placesIn(code: string): Place[] {
  const places: Place[] = [];
  let depth = 0;
  let quote = '';
  for (let at = 0; at < code.length; at++) {
    const character = code.charAt(at);
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
      continue;
    }
    if (')]}'.includes(character)) depth--;
    places.push({ at, depth });
    if ('([{'.includes(character)) depth++;
    if (character === '"' || character === "'") quote = character;
  }
  return places;
}

/** The names that code uses, outside of its literals in double quotes. */
export function usedIn(code: string, uses: readonly (readonly [use: RegExp, name: string])[]): string[] {
  const outside = code.replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
  return uses.filter(([use]) => use.test(outside)).map(([, name]) => name);
}

/** An expression without the parentheses around the whole of it. */
export function bare(code: string): string {
  const closed = placesIn(code).find(({ at, depth }) => at > 0 && depth === 0);
  return code.startsWith('(') && closed?.at === code.length - 1 ? code.slice(1, -1) : code;
}

/** An expression as the receiver of a method: a sum in parentheses. */
export function receiver(code: string): string {
  const isSum = placesIn(code).some(({ at, depth }) => depth === 0 && /^ [+.] /.test(code.slice(at, at + 3)));
  return isSum ? `(${code})` : code;
}

export interface WrapStyle {
  readonly indent: string;
  /** Whether a line may begin with the dot of a method. */
  readonly chains: boolean;
  /** The number of open brackets where a line may end, at least. */
  readonly depth: number;
  /** Whether all lines of a statement end inside the same bracket: gofmt indents the others further. */
  readonly flat?: boolean;
}

const columns = 116;

/** A statement in lines that are not too long, if it has places to break at; those after the first are indented. */
export function wrapped(line: string, style: WrapStyle): string[] {
  const width = columns - 2 * style.indent.length;
  if (line.length <= width) return [line];
  const own = /^\s*/.exec(line)?.[0] ?? '';
  const breaks = breaksIn(line, style).filter(({ at }) => at > own.length + style.indent.length + 8);
  const near = breaks.filter(({ at }) => at <= width);
  const lowest = Math.min(...near.map(({ rank }) => rank));
  const last = near.findLast(({ rank }) => rank === lowest) ?? breaks[0];
  if (last === undefined || (style.flat && lowest > 1)) return [line];
  const rest = own + style.indent + line.slice(last.at).trimStart();
  if (style.flat && rest.length > columns) return [line];
  // In the rest, brackets are counted from those that are open here.
  const inner = { ...style, indent: '', depth: style.depth - last.depth };
  return [line.slice(0, last.at).trimEnd(), ...wrapped(rest, inner)];
}

interface Break extends Place {
  /** The lowest is taken first. */
  readonly rank: number;
}

/** The places where a line may end: before a method, after an operator, after a comma, after an opening bracket. */
function breaksIn(line: string, style: WrapStyle): Break[] {
  return placesIn(line).flatMap(({ at, depth }): Break[] => {
    if (depth < style.depth) return [];
    const rest = line.slice(at);
    const [operator] = /^ (?:[+.<-]|&&|<=>)(?= )|^\+(?=\S)/.exec(rest) ?? [];
    if (style.chains && depth === 0 && /^\)\.\w/.test(rest)) return [{ at: at + 1, depth, rank: -1 }];
    if (operator !== undefined) return [{ at: at + operator.length, depth, rank: depth }];
    if (rest.startsWith(', ')) return [{ at: at + 1, depth, rank: depth }];
    return /^\([^)]/.test(rest) ? [{ at: at + 1, depth: depth + 1, rank: depth + 1.5 }] : [];
  });
}

/** Parts of a list in lines of source that hold as many as fit. */
export function lines(parts: readonly string[], separator: string, width = 100): string[] {
  const filled: string[] = [];
  let line = '';
  for (const [index, part] of parts.entries()) {
    const added = index === parts.length - 1 ? part : part + separator;
    if (line !== '' && line.length + added.length > width) {
      filled.push(line);
      line = '';
    }
    line += added;
  }
  return [...filled, line];
}

/** Code as a member of a class. */
export function indented(code: string): string {
  return code.replace(/^(?=.)/gm, '    ');
}
