// An error is identified by its class, its code or a field, never by its English: a reworded
// sentence would change what the program does. It is a search for the usual ways, by the usual
// names of such texts.

/** Texts of others, which have nothing but the text to tell them apart. */
const foreignTexts = {
  'src/service/database/postgres-errors.ts': 'pg, of a lost connection',
  'src/core/contract/masking.ts': 'a refusal, whose quoted names are masked for the log',
  'src/core/support/json.ts': "V8 and lossless-json, of a fault's position",
};

/** In these rooms, `message` is the text to sign. */
const errorTexts = (file) =>
  /^src\/(core\/signing|lab)\//.test(file)
    ? '(?:\\w*[eE]rror|cause|reason)\\.message|hint|msg'
    : 'message|hint|msg';

const methods = 'includes|startsWith|endsWith|replace|replaceAll|match|matchAll|search|indexOf';

function patternFor(file) {
  const texts = errorTexts(file);
  return new RegExp(
    `\\b(?:${texts})[?!]?\\.(?:${methods})\\(|\\.(?:test|exec)\\([^)]*\\b(?:${texts})\\b`,
  );
}

export function* errorTextFaults(sources) {
  const unused = new Set(Object.keys(foreignTexts));
  for (const [file, { text }] of sources) {
    const pattern = patternFor(file);
    for (const [index, line] of text.split('\n').entries()) {
      if (!pattern.test(line)) continue;
      unused.delete(file);
      if (foreignTexts[file] === undefined) {
        yield `${file}:${index + 1} judges an error by its English: ${line.trim()}`;
      }
    }
  }
  for (const file of unused) yield `scripts/layers/error-texts.mjs: ${file} judges no text`;
}
