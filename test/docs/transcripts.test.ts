import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { Reader } from './reader.js';

// Each page is its own snapshot: `npm run docs` writes what has changed.
const project = join(import.meta.dirname, '..', '..');
const docs = readdirSync(join(project, 'docs')).map((name) => `docs/${name}`);
const pages = ['README.md', ...docs]
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(join(project, name), 'utf8') }))
  .filter(({ text }) => text.includes('\n```console\n'));

/** A transcript, or a comment with a command that prepares the next one. */
const step = /^<!-- run: (?<preparation>.+?) -->\n|^```console\n(?<transcript>.*?)^```\n/gms;

/** The page with its transcripts as they must be. */
async function followed(text: string): Promise<string> {
  await using reader = await Reader.of(text);
  let page = '';
  let end = 0;
  for (const { 0: whole, groups = {}, index } of text.matchAll(step)) {
    const { preparation, transcript = '' } = groups;
    page += text.slice(end, index);
    end = index + whole.length;
    if (preparation !== undefined) await reader.prepare(preparation);
    page += preparation === undefined ? fenced(await reader.follow(transcript)) : whole;
  }
  return page + text.slice(end);
}

function fenced(transcript: string): string {
  return `\`\`\`console\n${transcript}\`\`\`\n`;
}

describe.skipIf(process.platform !== 'linux')('the transcripts (needs Linux)', () => {
  const readme = new Promise<string | null>((resolve) => {
    for (const { name, text } of pages) {
      it.concurrent(`of ${name} are what the program prints`, {
        timeout: 180_000,
      }, async (test) => {
        const page = await followed(text).catch((error: unknown) => {
          if (name === 'README.md') resolve(null);
          throw error;
        });
        if (name === 'README.md') resolve(page);
        await test.expect(page).toMatchFileSnapshot(join(project, name));
      });
    }
  });

  it('README.zh-CN.md has every command of README.md', (test) => {
    const [english, chinese] = ['README.md', 'README.zh-CN.md'].map((name) => {
      const text = readFileSync(join(project, name), 'utf8');
      return new Set([...text.matchAll(/`(userinfo [^`]+)`/g)].map(([, command]) => command));
    });
    test.expect([...(english ?? [])].filter((command) => !chinese?.has(command))).toEqual([]);
  });

  it.concurrent('of README.zh-CN.md are those of README.md', { timeout: 180_000 }, async (test) => {
    const chinese = join(project, 'README.zh-CN.md');
    const blocks = (await readme)?.match(/^```console\n.*?^```\n/gms) ?? [];
    let count = 0;
    const page = readFileSync(chinese, 'utf8').replace(
      /^```console\n.*?^```\n/gms,
      () => blocks[count++] ?? '',
    );
    test.expect(count).toBe(blocks.length);
    await test.expect(page).toMatchFileSnapshot(chinese);
  });
});
