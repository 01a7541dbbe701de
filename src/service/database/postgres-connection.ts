import { Client, type ClientConfig, type QueryConfig, type QueryResult } from 'pg';
import { DatabaseBusyError, StoreUnavailableError } from './errors.js';
import {
  ConnectionLostError,
  DatabaseNoAnswerError,
  translatePostgresError,
} from './postgres-errors.js';

/**
 * The function of PostgreSQL in which a COMMIT waits for a standby, as its notices name it in every
 * language.
 */
const standbyWait = 'SyncRepWaitForLSN';

/**
 * Whatever uses a connection that breaks gets the error, so the event needs no more than a
 * listener; that of the pool comes a turn after the server is ready, and it may end the connection
 * in the same segment. pg leaves a socket open where it has no password to send.
 */
export class PostgresClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    this.on('error', () => {});
    this.connection.on('error', () => this.cut());
  }

  /** Closes the socket, whatever is unanswered. The server may go on with it. */
  cut(): void {
    this.connection.stream.destroy();
  }
}

/** The limits of the statements of a unit of work. */
export interface WorkLimits {
  /** When the unit of work ends, by `performance.now()`: it sends nothing more then. */
  readonly deadline: number;
  /**
   * Maximum wait for an answer in milliseconds: a healthy server cancels a statement before that.
   */
  readonly answerMs: number;
  /** Called when a statement is not answered in time. It goes on. */
  readonly onSilence: (error: DatabaseNoAnswerError) => void;
}

/** A connection while a unit of work has it. */
export class PostgresConnection {
  /** Whether a COMMIT was sent whose answer is not known. */
  isCommitting = false;
  readonly #client: PostgresClient;
  readonly #limits: WorkLimits;
  #unanswered = 0;
  #isUnconfirmed = false;
  #onAnswered = () => {};

  constructor(client: PostgresClient, limits: WorkLimits) {
    this.#client = client;
    this.#limits = limits;
    client.on('notice', this.#takeNotice);
  }

  /** Whether all statements that were sent are answered. */
  get isAnswered(): boolean {
    return this.#unanswered === 0;
  }

  /**
   * Sends a statement.
   *
   * @throws StoreUnavailableError unless the statement itself is at fault
   */
  async query(query: string | QueryConfig): Promise<QueryResult> {
    if (performance.now() < this.#limits.deadline) return await this.#send(query);
    throw notInTime();
  }

  /**
   * Sends a statement that commits. If it is not known whether it did, its work is not run again.
   *
   * @throws StoreUnavailableError unless the statement itself is at fault
   */
  async commit(query: string | QueryConfig): Promise<QueryResult> {
    const answer = this.query(query);
    this.isCommitting = true;
    try {
      return await answer;
    } catch (error) {
      throw error instanceof ConnectionLostError ? outcomeUnknown(error) : error;
    } finally {
      this.isCommitting = false;
    }
  }

  /**
   * Ends the transaction, also after the deadline. If this fails, the connection is lost, and the
   * transaction with it.
   */
  async rollBack(): Promise<void> {
    await this.#send('ROLLBACK').catch(() => {});
  }

  /** Calls back when the last statement that was sent is answered, or the connection is lost. */
  whenAnswered(onAnswered: () => void): void {
    this.#onAnswered = onAnswered;
  }

  /** Ends the use of the connection. Returns whether it can be used for other work. */
  release(): boolean {
    this.#client.off('notice', this.#takeNotice);
    return this.#client.getTransactionStatus() === 'I';
  }

  #send(query: string | QueryConfig): Promise<QueryResult> {
    const { answerMs, onSilence } = this.#limits;
    this.#unanswered += 1;
    return new Promise((resolve, reject) => {
      const silence = setTimeout(() => {
        const error = new DatabaseNoAnswerError('the database does not answer');
        reject(error);
        onSilence(error);
      }, answerMs);
      void this.#client.query(query as QueryConfig, (error: Error | null, result: QueryResult) => {
        clearTimeout(silence);
        if (error) reject(translatePostgresError(error));
        else if (this.#isUnconfirmed) reject(outcomeUnknown());
        else resolve(result);
        this.#unanswered -= 1;
        if (this.#unanswered === 0) this.#onAnswered();
      });
    });
  }

  /**
   * A COMMIT whose wait for a standby is cancelled succeeds with this notice: the standby may not
   * have it.
   */
  readonly #takeNotice = ({ routine }: { readonly routine?: string | undefined }) => {
    this.#isUnconfirmed ||= routine === standbyWait;
  };
}

/**
 * Refuses a server that cannot be written to, such as a standby, or does not answer within some
 * milliseconds.
 *
 * @throws StoreUnavailableError
 */
export async function refuseStandby(client: PostgresClient, answerMs: number): Promise<void> {
  const limits = { deadline: Number.POSITIVE_INFINITY, answerMs, onSilence: () => client.cut() };
  const connection = new PostgresConnection(client, limits);
  const { rows } = await connection.query('SHOW transaction_read_only');
  connection.release();
  if (rows[0]?.transaction_read_only !== 'off')
    throw new ConnectionLostError('the database is read-only');
}

/** The error of work that has reached its deadline, of which nothing is stored. */
export function notInTime(): StoreUnavailableError {
  return new DatabaseBusyError('the database did not answer in time');
}

/** The error of work that may be stored. */
export function outcomeUnknown(cause?: Error): StoreUnavailableError {
  return new StoreUnavailableError(
    'the database did not confirm a commit: the work may be stored',
    { cause },
  );
}
