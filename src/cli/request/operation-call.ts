import type { Command } from 'commander';
import type { PlainRequest } from '../../client/call/request.js';
import type { Invocation } from '../command.js';

/** An operation on the command line. Each of its options makes the request, or is for sending it. */
export interface OperationCall<RequestOptions, Arguments extends unknown[]> {
  /**
   * Adds the arguments, and the options that make the request: `sign explain` has them, too. Each
   * option is named like its parameter of §4.
   */
  readonly takesForRequest: (command: Command) => Command;
  /** Adds the options of the command that sends the request: no signature depends on them. */
  readonly takesForSending: (command: Command) => Command;
  /** The request, which knows only the options that make it. */
  readonly request: (
    invocation: Invocation<RequestOptions>,
    ...args: Arguments
  ) => Promise<PlainRequest>;
}
