/** Short options that take a value, as their long ones. */
const shortValues: Readonly<Record<string, string>> = {
  A: 'user-agent',
  b: 'cookie',
  c: 'cookie-jar',
  C: 'continue-at',
  d: 'data',
  D: 'dump-header',
  e: 'referer',
  E: 'cert',
  F: 'form',
  h: 'help',
  H: 'header',
  K: 'config',
  m: 'max-time',
  o: 'output',
  P: 'ftp-port',
  Q: 'quote',
  r: 'range',
  t: 'telnet-option',
  T: 'upload-file',
  u: 'user',
  U: 'proxy-user',
  w: 'write-out',
  x: 'proxy',
  X: 'request',
  y: 'speed-time',
  Y: 'speed-limit',
  z: 'time-cond',
};

const shortFlags: Readonly<Record<string, string>> = { G: 'get', I: 'head' };

const longValues: ReadonlySet<string> = new Set([
  ...Object.values(shortValues),
  'cacert',
  'capath',
  'ciphers',
  'connect-timeout',
  'connect-to',
  'data-ascii',
  'data-binary',
  'data-raw',
  'data-urlencode',
  'form-string',
  'interface',
  'json',
  'key',
  'limit-rate',
  'max-redirs',
  'noproxy',
  'oauth2-bearer',
  'pass',
  'resolve',
  'retry',
  'retry-delay',
  'retry-max-time',
  'stderr',
  'tls-max',
  'trace',
  'trace-ascii',
  'unix-socket',
  'url',
  'url-query',
]);

/** An option under its long name, or a word that is none. */
export interface CurlOption {
  /** Empty for a word that is no option: a URL. */
  readonly name: string;
  readonly value: string;
}

/** The options of a curl command, in order: each with its value, flags with an empty one. */
export function* readCurlOptions(words: Iterable<string>): Generator<CurlOption> {
  const rest = words[Symbol.iterator]();
  const next = (): string => {
    const { value, done } = rest.next();
    return done ? '' : value;
  };
  for (let { value: word, done } = rest.next(); !done; { value: word, done } = rest.next()) {
    if (word.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
      yield { name, value: value ?? (longValues.has(name) ? next() : '') };
    } else if (word.startsWith('-') && word.length > 1) {
      yield* readShortOptions(word.slice(1), next);
    } else {
      yield { name: '', value: word };
    }
  }
}

/** `-sXPUT` is `-s -X PUT`. */
function* readShortOptions(letters: string, next: () => string): Generator<CurlOption> {
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    const name = shortValues[letter];
    if (name !== undefined) {
      yield { name, value: letters.slice(at + 1) || next() };
      return;
    }
    yield { name: shortFlags[letter] ?? letter, value: '' };
  }
}
