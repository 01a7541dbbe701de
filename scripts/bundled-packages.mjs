// Licences and SBOM of the packages in a bundle; the SBOM is made from the lock file.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'));

/** The packages whose modules these are, sorted, each `folder` as the lock file names it. */
export function packagesOf(modules) {
  const folders = modules.map(
    (id) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0],
  );
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .sort()
    .map((folder) => ({
      folder,
      name: folder.replace(/^.*node_modules\//, ''),
      ...locked[folder],
    }));
}

/** The licences of the packages require that they are distributed with the code. */
export function licenseTexts(bundled) {
  const texts = bundled.map(
    (each) => `${each.name} ${each.version}\n\n${licenseOf(each).trim()}\n`,
  );
  return [...new Set(texts)].join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * The licence file of a package, or, where it has none, what its page and its package.json say of
 * the licence.
 */
function licenseOf({ folder, name, license }) {
  const files = readdirSync(folder);
  const textOf = (pattern) => {
    const file = files.find((entry) => pattern.test(entry));
    return file === undefined ? '' : readFileSync(join(folder, file), 'utf8');
  };
  const text =
    textOf(/^licen[cs]e/i) ||
    (/^#+ *licen[cs]e\b.*?\n(.*)$/ims.exec(textOf(/^readme/i))?.[1] ?? '');
  if (text.trim() === '') throw new Error(`${name}: found no licence`);
  const { author, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const source = repository?.url ?? repository ?? `the package ${name} of the npm registry`;
  return `License: ${license}\nAuthor: ${author?.name ?? author ?? 'see below'}\nSource: ${source}\n\n${text.replace(/^\s*\n/, '')}`;
}

/**
 * A bill of materials (CycloneDX 1.5), without a time and a serial number: the same lock file gives
 * the same bill.
 */
export function billOfMaterials(bundled) {
  const { name, version, license } = manifest;
  const direct = bundled.filter(
    ({ folder }) => folder.split('node_modules/').length === 2 && isNamed(folder),
  );
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...identity({ name, version, license }) } },
    components: bundled.map(component),
    dependencies: [
      { ref: `${name}@${version}`, dependsOn: direct.map(referenceOf) },
      ...bundled.map((each) => ({
        ref: referenceOf(each),
        dependsOn: needsOf(each, bundled).map(referenceOf),
      })),
    ],
  };
}

const isNamed = (folder) =>
  Object.hasOwn(manifest.devDependencies, folder.slice('node_modules/'.length));

const referenceOf = ({ name, version }) => `${name}@${version}`;

function identity({ name, version, license }) {
  const licenses = /^[\w.-]+$/.test(license)
    ? [{ license: { id: license } }]
    : [{ expression: license }];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { 'bom-ref': referenceOf({ name, version }), name, version, purl, licenses };
}

function component(each) {
  const [algorithm, digest] = each.integrity.split(/-(.*)/s);
  return {
    type: 'library',
    ...identity(each),
    scope: 'required',
    hashes: [
      {
        alg: algorithm.replace('sha', 'SHA-'),
        content: Buffer.from(digest, 'base64').toString('hex'),
      },
    ],
  };
}

/**
 * The bundled packages that a package needs: of each name the one that Node finds from its folder.
 */
function needsOf({ folder, dependencies, optionalDependencies, peerDependencies }, bundled) {
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const found = names.map((name) => {
    let from = folder;
    while (from !== '' && locked[`${from}/node_modules/${name}`] === undefined)
      from = from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1));
    return join(from, 'node_modules', name);
  });
  return bundled.filter((other) => found.includes(other.folder));
}
