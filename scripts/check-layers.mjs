// Checks the structure of src: what its files may import, one meaning for each exported name,
// errors that are identified by their class, and the amount of code that frequent commands and the
// SDK load. Run after a build; exits 1 with one line for each fault.
import { errorTextFaults } from './layers/error-texts.mjs';
import { importFaults } from './layers/imports.mjs';
import { loadFaults, sdkFaults } from './layers/loaded-code.mjs';
import { nameFaults } from './layers/names.mjs';
import { readSources } from './layers/source-files.mjs';

const sources = readSources('src');
const faults = [
  ...importFaults(sources),
  ...nameFaults(sources),
  ...errorTextFaults(sources),
  ...sdkFaults(),
];
for await (const fault of loadFaults()) faults.push(fault);
process.stdout.write(
  `${sources.size} files\n${faults.map((fault) => `error: ${fault}\n`).join('')}`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
