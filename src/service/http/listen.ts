import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { urlHost } from '../../core/contract/base-url.js';
import { describeSystemError, isSystemError } from '../../core/support/errors.js';
import { StartError } from '../database/errors.js';

/**
 * Starts a server on an address, and returns its URL; port 0 selects a free one.
 *
 * @throws StartError
 */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  try {
    const { address } = await lookup(host);
    server.listen(port, address);
    await once(server, 'listening');
    return `http://${urlHost(host)}:${(server.address() as AddressInfo).port}`;
  } catch (error) {
    throw listenFault(error, host, port);
  }
}

/** An error of `listen`, for the operator. */
function listenFault(error: unknown, host: string, port: number): StartError {
  if (isSystemError(error, 'EADDRINUSE')) {
    return new StartError(`port ${port} of ${host} is in use`, {
      code: 'PORT_IN_USE',
      hint: 'Stop what listens there, or choose another port; 0 picks a free one.',
      cause: error,
    });
  }
  const hint = 'Choose an address of this machine, such as 127.0.0.1, and a port that you may use.';
  return new StartError(`cannot listen on ${host}, port ${port}: ${describeSystemError(error)}`, {
    code: 'CANNOT_LISTEN',
    hint,
    cause: error,
  });
}
