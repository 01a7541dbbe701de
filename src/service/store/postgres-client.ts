import { Client } from 'pg';

type Done = Parameters<Client['connect']>[0];

/** A client that closes its socket where it cannot connect: `pg` leaves it open when it has no password to give. */
export class PostgresClient extends Client {
  override connect(): Promise<Client>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<Client> | undefined {
    const connecting = super.connect();
    connecting.catch(() => this.end());
    if (done === undefined) return connecting;
    const tell = done as (error: Error | null, client?: Client) => void;
    connecting.then((client) => tell(null, client), tell);
    return undefined;
  }
}
