import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const roots = readdirSync(project).filter(
  (name) => name.endsWith('.md') && name !== 'CHANGELOG.md',
);
const docs = readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' });
const pages = [
  'examples/README.md',
  ...roots,
  ...docs.filter((name) => name.endsWith('.md')).map((name) => join('docs', name)),
];

/** The page without what is in fences. */
const prose = (page: string) =>
  readFileSync(join(project, page), 'utf8').replace(/^```.*?^```$/gms, '');

/** The anchors of a page, as GitHub makes them: a heading that comes again has a number. */
function anchors(page: string): Set<string> {
  const known = anchorsOf.get(page);
  if (known !== undefined) return known;
  const found = new Set([...prose(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id));
  for (const [, text = ''] of prose(page).matchAll(/^#+ (.+)$/gm)) {
    const words = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = words;
    for (let count = 1; found.has(anchor); count += 1) anchor = `${words}-${count}`;
    found.add(anchor);
  }
  anchorsOf.set(page, found);
  return found;
}

const anchorsOf = new Map<string, Set<string>>();

it.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, a, b]) => a ?? b ?? '',
  );
  const broken = links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(project, target))) return true;
    return anchor !== undefined && !anchors(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

/** Such as `client/request`, `docs/reference` or `.ci/run`. */
const path = /`((?:[\w-]*\.)?[a-z-]+\/[\w./-]+)`/g;
const internals = pages.filter((page) =>
  /adding|architecture|decisions|CONTRIBUTING|SECURITY/.test(page),
);

it.each(internals)('every file that %s names is there', (page) => {
  const named = [...prose(page).matchAll(path)].map(([, name = '']) => name);
  const isThere = (name: string) =>
    ['', 'src', 'docs', 'test'].some((folder) =>
      ['', '.ts', '.test.ts'].some((ending) => existsSync(join(project, folder, name + ending))),
    );
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
