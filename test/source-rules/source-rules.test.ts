import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exceptions } from './exceptions.ts';
import { type Breach, breachesIn, type RuleName, rules } from './rules.ts';

const root = join(import.meta.dirname, '../..');
/** For the rules about files: modules that handle folders which agents, submissions and imports wrote. */
const modules = /^src\/(environment|store|grading|sandbox|exchange|runs|server|services|evaluation)\//;
const aboutFiles: RuleName[] = ['names-as-bytes', 'opened-safely'];

function breachesOfSources(): Breach[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => `src/${file}`)
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|test-support\.ts$/.test(file));
  if (files.length < 300) throw new Error(`only ${files.length} sources were found`);
  const all = files.flatMap((file) => breachesIn(file, readFileSync(join(root, file), 'utf8')));
  return all.filter(({ rule, file }) => !aboutFiles.includes(rule) || modules.test(file));
}

describe('sources that handle what others wrote', () => {
  const breaches = breachesOfSources();

  test.each(Object.entries(rules))('%s: %s', (rule) => {
    const excepted = exceptions[rule as RuleName];
    const found = breaches.filter((breach) => breach.rule === rule && !(breach.file in excepted));
    expect(found.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([]);
  });

  test('have no unnecessary exception', () => {
    const needed = new Set(breaches.map(({ rule, file }) => `${rule} ${file}`));
    const listed = Object.entries(exceptions).flatMap(([rule, files]) =>
      Object.keys(files).map((file) => `${rule} ${file}`),
    );
    expect(listed.filter((exception) => !needed.has(exception))).toEqual([]);
  });
});

describe('a planted breach is found', () => {
  const fs = "import { readdirSync, readFileSync, openSync, constants } from 'node:fs';\n";
  const promises = "import { readFile as read, readdir } from 'node:fs/promises';\n";
  const timers = "import { setTimeout as sleep } from 'node:timers/promises';\n";
  const planted: [RuleName, string][] = [
    ['names-as-bytes', `${fs}for (const name of readdirSync(folder)) use(name);`],
    ['names-as-bytes', `${promises}await readdir(folder, { withFileTypes: true });`],
    ['opened-safely', `${fs}const text = readFileSync(join(workspace, name), 'utf8');`],
    ['opened-safely', `${promises}await read(path);`],
    ['opened-safely', `${fs}openSync(path, 'r');`],
    ['bounded-buffers', "let text = '';\nchild.stdout.on('data', (chunk) => { text += chunk; });"],
    ['bounded-buffers', "child.stdout.on('data', (chunk) => { text = text + chunk.toString(); });"],
    ['bounded-buffers', 'start({ onOutput: (part) => parts.push(part) });'],
    ['heeds-its-signal', `${timers}async function wait() { while (!ready()) await sleep(100); }`],
  ];
  test.each(planted)('%s: %s', (rule, source) => {
    expect(breachesIn('src/planted.ts', source).map((breach) => breach.rule)).toEqual([rule]);
  });

  const fine: [string, string][] = [
    ['a listing of bytes', `${fs}readdirSync(folder, { encoding: 'buffer' });`],
    ['an opened file that is not a link', `${fs}openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);`],
    ['a bounded text', "child.on('data', (chunk) => { text = (text + chunk).slice(-most); });"],
    ['a count', "child.on('data', (chunk) => { bytes += chunk.length; });"],
    ['a method of the same name', 'handle.readdirSync(folder); cache.open(path);'],
    [
      'a loop with a signal',
      `${timers}async function wait(signal) { for (;;) await sleep(9, null, { signal }); }`,
    ],
  ];
  test.each(fine)('but not %s', (_, source) => {
    expect(breachesIn('src/fine.ts', source)).toEqual([]);
  });
});
