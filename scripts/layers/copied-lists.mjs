// A test iterates the exported list instead of a copy of it: a member added to the list is tested, too.
import { readSources } from './source-files.mjs';

const exported = /^export const (?<name>\w+)[^=\n]*= \[(?<members>[^\]]*)\] as const/gm;
const literal = /\[(?<members>[^[\]]{3,400})\]/g;

function textsIn(members) {
  const parts = members.split(',').map((part) => part.trim());
  return new Set(parts.filter((part) => /^'[^']*'$/.test(part)).map((part) => part.slice(1, -1)));
}

export function* listFaults(sources, folder) {
  const lists = [...sources].flatMap(([file, { text }]) =>
    [...text.matchAll(exported)].map(({ groups }) => ({
      file,
      name: groups.name,
      of: textsIn(groups.members),
    })),
  );
  for (const [path, { text }] of readSources(folder)) {
    for (const { groups, index } of text.matchAll(literal)) {
      const found = textsIn(groups.members);
      const copied = lists.find(
        ({ of }) =>
          found.size > 2 && found.size * 2 > of.size && [...found].every((member) => of.has(member)),
      );
      if (copied === undefined) continue;
      const line = text.slice(0, index).split('\n').length;
      yield `${path}:${line} copies ${copied.name} of ${copied.file}: iterate that list`;
    }
  }
}
