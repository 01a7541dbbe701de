import { type Choice, choice } from './weighted.js';

/** Separators of two texts, except for the empty one, the likeliest first. */
export const separators: readonly Choice<string>[] = [
  choice('&', 1.5),
  choice(',', 2.5),
  choice('|', 2.5),
  choice('\n', 3),
  choice(':', 3),
  choice('_', 3.5),
  choice('-', 3.5),
  choice('.', 3.5),
  choice(';', 4),
  choice('#', 4.5),
  choice('+', 5),
  choice(' ', 5),
  choice('$', 5.5),
  choice('@', 5.5),
  choice('*', 5.5),
  choice('/', 5.5),
  choice('=', 5.5),
  choice('?', 6),
  choice('~', 6),
  choice('^', 6),
  choice('!', 6.5),
  choice('%', 6.5),
  choice('&&', 6.5),
  choice('||', 6.5),
  choice('##', 6.5),
  choice(', ', 6.5),
  choice('\r\n', 6.5),
  choice('\t', 6.5),
];

/** Separators of a parameter's name and value. */
export const nameValueSeparators: readonly Choice<string>[] = [
  choice('=', 0.6),
  choice('', 2),
  choice(':', 2.6),
  choice('|', 5.5),
  choice(',', 5.5),
  choice('_', 5.5),
  choice('-', 5.5),
  choice('#', 6),
  choice('==', 6.5),
  choice('=>', 6.5),
  choice(': ', 6.5),
  choice('&', 6.5),
];
