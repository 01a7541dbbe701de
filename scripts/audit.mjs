// Reports the known vulnerabilities of the packages in the bundle. They are development
// dependencies here, and unknown to the npm of whoever installs this package. Run after a build;
// exits 1 if there is one, 2 if the registry does not say.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { components } = JSON.parse(readFileSync('dist/sbom.cdx.json', 'utf8'));
const bundled = new Set(components.map((component) => component['bom-ref']));
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'));

const { stdout } = spawnSync('npm', ['audit', '--json'], {
  encoding: 'utf8',
  maxBuffer: 1e8,
  shell: process.platform === 'win32',
});
const { vulnerabilities, message, error } = JSON.parse(stdout || '{}');
if (vulnerabilities === undefined) {
  process.stderr.write(
    `error: npm audit failed: ${message || error?.summary || 'it answered nothing'}\n`,
  );
  process.exit(2);
}

const lines = Object.values(vulnerabilities).flatMap(({ name, nodes, via }) => {
  const versions = nodes
    .map((folder) => locked[folder].version)
    .filter((version) => bundled.has(`${name}@${version}`));
  // A text is the name of another package, which has a vulnerability of its own.
  const own = via.filter((reason) => typeof reason === 'object');
  return versions.flatMap((version) =>
    own.map(({ severity, title, url }) => `${name} ${version}: ${severity}: ${title}: ${url}\n`),
  );
});
process.stdout.write(
  `${bundled.size} packages in the bundle, known vulnerabilities: ${lines.length}\n${lines.join('')}`,
);
process.exitCode = lines.length === 0 ? 0 : 1;
