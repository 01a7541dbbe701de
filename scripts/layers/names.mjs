// Names: one meaning for each exported name of src.
const declaration =
  /^export (?:declare |abstract |async )*(?:class|function\*?|interface|type|const|let|enum) (?<name>\w+)/gm;

export function* nameFaults(sources) {
  const files = new Map();
  for (const [file, { text }] of sources) {
    for (const { groups } of text.matchAll(declaration)) {
      files.set(groups.name, (files.get(groups.name) ?? new Set()).add(file));
    }
  }
  for (const [name, places] of files) {
    if (places.size > 1)
      yield `${name} is exported by ${[...places].join(' and by ')}: rename one of them`;
  }
}
