import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { commands } from '../support/help-texts.js';
import { project, run } from './tarball.js';

const tarball = inject('tarball');
const packed = inject('packed');

function tool(name: string, ...args: string[]): string {
  return run(project, process.execPath, join(project, 'node_modules', name), ...args);
}

function inTarball(path: string): string {
  return run(project, 'tar', '-xOf', tarball, `package/${path}`);
}

it('contains what is needed, and no more', () => {
  const needed =
    /^((README(\.zh-CN)?|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE|docs\/(.+\.(md|png|svg)|operations\/\w+\.ya?ml|(platform\.schema|openapi)\.json)|examples\/[\w.-]+|(dist\/cjs\/)?package\.json|bin\/userinfo\.cjs|dist\/(man\/userinfo[\w-]*\.1|THIRD-PARTY-LICENSES\.txt|sbom\.cdx\.json|cli\/completion\.json)|dist\/src\/.+\.(ts|json)|dist\/sqlite\/[a-z]\w+-\w+\.(glibc|musl)\.node|dist\/.+\.(c?js|d\.ts|map))$/;
  expect(packed.filter((path) => !needed.test(path))).toEqual([]);
  expect(packed).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/service/index.d.ts', 'dist/cli/main.cjs']),
  );
});

it('has a man page of each group of commands, with every command', () => {
  const { man } = JSON.parse(inTarball('package.json'));
  expect(packed).toEqual(expect.arrayContaining(man));
  const pages = packed
    .filter((path) => man.includes(path))
    .map((path) => readFileSync(join(project, path), 'utf8'))
    .join('');
  for (const command of commands) {
    expect(pages).toContain(`.SS userinfo ${command.join(' ').replaceAll('-', '\\-')}`);
  }
});

it('has what its pages link to, except sources', () => {
  const pages = packed.filter((path) => path.endsWith('.md'));
  const missing = pages.flatMap((page) => {
    const text = readFileSync(join(project, page), 'utf8').replace(/^```.*?^```$/gms, '');
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, a, b]) => a ?? b ?? '',
    );
    return links
      .filter((link) => !/^(https?|mailto):/.test(link))
      .map((link) => join(dirname(page), link))
      .filter(
        (path) =>
          !/^src\//.test(path) &&
          !packed.some((name) => name === path || name.startsWith(join(path, '/'))),
      )
      .map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});

it('has types that need no package but those of Node', () => {
  const types = packed.filter((path) => path.endsWith('.d.ts'));
  const imports = types.flatMap((path) => {
    const text = readFileSync(join(project, path), 'utf8').replace(/\/\*.*?\*\//gs, '');
    return [...text.matchAll(/(?:from |import\(|import |types=|path=)["']([^"'.][^"']*)["']/g)].map(
      ([, name]) => `${path}: ${name}`,
    );
  });
  expect(imports).toEqual([]);
});

it('has maps of the SDK and of all types, which lead to sources that are packed, and no other sources', () => {
  const maps = packed.filter((path) => path.endsWith('.map'));
  const mapOf = (path: string) => `${path}.map`;
  const types = packed.filter((path) => path.endsWith('.d.ts'));
  expect(maps).toEqual(
    expect.arrayContaining(
      [...types, 'dist/client.js', 'dist/cjs/client.js', 'dist/client/profiles.js'].map(mapOf),
    ),
  );
  const named = new Set<string>();
  for (const map of maps) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(project, map), 'utf8'));
    const [, url] =
      /\/\/# sourceMappingURL=(\S+)\s*$/.exec(
        readFileSync(join(project, map.slice(0, -4)), 'utf8'),
      ) ?? [];
    expect([map, join(dirname(map), url ?? '')]).toEqual([map, map]);
    sources.forEach((source: string, index: number) => {
      if (!sourcesContent?.[index]) named.add(join(dirname(map), source));
    });
  }
  const ours = packed.filter((path) => path.startsWith('dist/src/'));
  expect([...named].sort()).toEqual([...ours, 'package.json'].sort());
});

it('resolves for every way of importing it', () => {
  expect(tool('publint/src/cli.js', tarball, '--strict')).toContain('All good!');
  expect(tool('@arethetypeswrong/cli/dist/index.js', tarball)).toContain('No problems found');
});

it('needs no other package, and has no script of an installation', () => {
  const manifest = JSON.parse(inTarball('package.json'));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  expect([dependencies, optionalDependencies, peerDependencies]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  // npm warns of `prepare`, too, where the tarball is installed.
  const ofInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(Object.keys(manifest.scripts).filter((name) => ofInstall.includes(name))).toEqual([]);
});

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes: readonly unknown[];
  readonly licenses: readonly unknown[];
}

interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

describe('the bundled packages', () => {
  const bill: Bill = JSON.parse(inTarball('dist/sbom.cdx.json'));
  const names = new Set(bill.components.map(({ name }) => name));
  const references = new Set(bill.components.map((component) => component['bom-ref']));

  it('are in the bill of materials, by the code', () => {
    const sources = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(project, 'src', name), 'utf8'));
    const imported = sources.flatMap((source) =>
      [
        ...source.matchAll(
          /^(?! +\*)(?!import type).*(?:from|import\() ?'((?:@[\w-]+\/)?[a-z][\w-]*)[^':]*'/gm,
        ),
      ].map(([, name = '']) => name),
    );
    // Bundlers note the origin of a module before it.
    const noted = packed
      .filter((path) => /^dist\/[^/]*\.js$/.test(path))
      .flatMap((path) => [
        ...readFileSync(join(project, path), 'utf8').matchAll(
          /^\/\/.*node_modules\/((?:@[\w-]+\/)?[\w.-]+)\//gm,
        ),
      ])
      .map(([, name = '']) => name);
    expect(imported).toEqual(
      expect.arrayContaining(['commander', 'conf', 'prom-client', 'undici']),
    );
    expect(noted).toEqual(
      expect.arrayContaining(['prom-client', 'tdigest', 'pg-protocol', 'undici']),
    );
    const missing = [...imported, ...noted].filter((name) => !names.has(name));
    expect([...new Set(missing)]).toEqual([]);
  });

  it("are in it as npm's own bill of the lock file has them", () => {
    const own: Bill = JSON.parse(
      run(project, 'npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'),
    );
    const facts = ({ name, version, purl, hashes, licenses }: Component) => ({
      name,
      version,
      purl,
      hashes,
      licenses,
    });
    const wanted = own.components.filter((component) => references.has(component['bom-ref']));
    const sorted = (components: readonly Component[]) =>
      components.map(facts).sort((a, b) => (a.purl < b.purl ? -1 : 1));
    expect(sorted(bill.components)).toEqual(sorted(wanted));
    const needs = new Map(own.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    for (const { ref, dependsOn } of bill.dependencies) {
      const bundled = needs.get(ref)?.filter((need) => references.has(need));
      expect([ref, [...dependsOn].sort()]).toEqual([ref, bundled?.sort()]);
    }
  });

  it('have their licences beside them', () => {
    const texts = inTarball('dist/THIRD-PARTY-LICENSES.txt').split(`\n${'-'.repeat(80)}\n\n`);
    const licensed = texts.map(
      (text) =>
        /^(\S+) (\S+)\n\nLicense: .+\nAuthor: .+\nSource: .+\n\n *\S/
          .exec(text)
          ?.slice(1)
          .join('@') ?? text,
    );
    expect(licensed.sort()).toEqual([...references].sort());
  });

  it('have exact versions in package.json, and SECURITY.md says what they are trusted with', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const security = readFileSync(join(project, 'SECURITY.md'), 'utf8');
    const direct = bill.dependencies[0]?.dependsOn.map((ref) => ref.replace(/@[^@]*$/, '')) ?? [];
    expect(direct).toEqual(expect.arrayContaining(['commander', 'undici']));
    for (const name of direct)
      expect([name, devDependencies[name]]).toEqual([name, expect.stringMatching(/^\d/)]);
    expect(direct.filter((name) => !security.includes(`\`${name}\``))).toEqual([]);
  });

  it('are audited: a vulnerability of one of them is an error, one of a tool is not', async () => {
    const advised: string[] = [];
    const registry = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const name = decodeURIComponent(request.url?.slice(1) ?? '');
      const version = { name, version: '0.0.1', dist: {} };
      const asked = () => Object.keys(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString()));
      const advisory = {
        id: 1,
        severity: 'high',
        vulnerable_versions: '*',
        cwe: [],
        cvss: { score: 0 },
      };
      const answer =
        request.method === 'POST'
          ? Object.fromEntries(
              asked()
                .filter((each) => advised.includes(each))
                .map((each) => [
                  each,
                  [
                    {
                      ...advisory,
                      title: `${each} is broken`,
                      url: `https://advisories.test/${each}`,
                    },
                  ],
                ]),
            )
          : { name, 'dist-tags': { latest: '0.0.1' }, versions: { '0.0.1': version } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    await once(registry.listen(0, '127.0.0.1'), 'listening');
    const npm_config_registry = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const audit = () =>
      promisify(execFile)('npm', ['run', '--silent', 'audit'], {
        cwd: project,
        env: {
          ...process.env,
          npm_config_registry,
          npm_config_fetch_retries: '0',
          npm_config_cache: join(inject('folder'), 'npm cache'),
        },
      });
    advised.push('vitest');
    expect((await audit()).stdout).toBe(
      `${references.size} packages in the bundle, known vulnerabilities: 0\n`,
    );
    advised.push('undici');
    await expect(audit()).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /: 1\nundici \S+: high: undici is broken: https:\/\/advisories.test\/undici\n$/,
      ),
    });
    registry.close();
    await expect(audit()).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('npm audit failed'),
    });
  });
});
