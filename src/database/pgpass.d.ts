/** The password file of PostgreSQL: https://www.postgresql.org/docs/current/libpq-pgpass.html. */
declare module 'pgpass' {
  interface Connection {
    readonly host: string;
    readonly port: number;
    readonly user?: string | undefined;
    readonly database?: string | undefined;
  }

  /** Gives the password for a connection; `undefined` where the file is not there, or does not know it. */
  export default function pgpass(connection: Connection, done: (password: string | undefined) => void): void;
}
