import { randomUUID } from 'node:crypto';

/** A code that was never issued. */
export function unissuedCode(): string {
  return randomUUID().replaceAll('-', '');
}
