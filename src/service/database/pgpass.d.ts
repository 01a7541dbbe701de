/** The password file of PostgreSQL: https://www.postgresql.org/docs/current/libpq-pgpass.html. */
declare module 'pgpass' {
  interface Connection {
    readonly host: string;
    readonly port: number;
    readonly user?: string | undefined;
    readonly database?: string | undefined;
  }

  /**
   * Passes on the password of a connection; `undefined` if the file is missing or has no entry for
   * it.
   */
  export default function pgpass(
    connection: Connection,
    done: (password: string | undefined) => void,
  ): void;
}
