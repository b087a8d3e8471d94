import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentByName, checkAgentOptions } from '../src/agents/index.ts';
import { agentLabel } from '../src/evaluation/index.ts';
import { ExperimentFile } from '../src/schema/index.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const folders = ['how-to', 'agents', 'tutorials'];
const pages = [
  'README.md',
  ...['quick-start', 'concepts', 'faq', 'guarantees', 'jobs', 'evaluation'].map((name) => `docs/${name}.md`),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, 'docs', folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${folder}/${name}`),
  ),
];

/** The contents of a page's code blocks in one language. */
function blocksOf(page: string, language: string): string[] {
  return [...read(page).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
}

describe('docs/how-to/write-an-agent.md', () => {
  /** Without the lines that depend on a file's location. */
  const withoutImports = (code: string) => code.replaceAll(/^import .*\n/gm, '').trim();
  /** The imported names, and the names of the files that they come from. */
  const importsOf = (code: string) =>
    [...code.matchAll(/^import (.*) from '(?:.*\/)?(.*?)';$/gm)].map(([, names, from]) => [names, from]);

  test.each(['docs/how-to/write-an-agent/rewriter.ts', 'test/example-agent.test.ts'])(
    'shows %s as it is compiled and run',
    (path) => {
      const code = read(path);
      const shown = blocksOf('docs/how-to/write-an-agent.md', 'ts').find(
        (block) => withoutImports(block) === withoutImports(code),
      );
      expect(shown).toBeDefined();
      expect(importsOf(shown ?? '').toSorted()).toEqual(importsOf(code).toSorted());
    },
  );
});

test('docs/how-to/write-an-agent-in-python.md shows its example as it is run', () => {
  const blocks = blocksOf('docs/how-to/write-an-agent-in-python.md', 'python');
  for (const file of ['doubling.py', 'test_doubling.py'])
    expect(blocks).toContain(read(`docs/how-to/write-an-agent/${file}`));
});

test('docs/tutorials/outside-agent.md shows its agent as it is run', () => {
  const [example] = blocksOf('docs/tutorials/outside-agent.md', 'python');
  expect(example).toBe(read('docs/tutorials/outside-agent/my_agent.py'));
});

const experiments = pages.flatMap((page) =>
  blocksOf(page, 'yaml').flatMap((code, index) =>
    /^(models|providers|agents):/m.test(code) ? [{ name: `${page}, block ${index + 1}`, code }] : [],
  ),
);

test.each(experiments)('$name is an experiment file', ({ code }) => {
  const parsed = ExperimentFile.safeParse(parse(code));
  expect(parsed.error?.issues).toBeUndefined();
});

/** The agents of an experiment file, which know their options. */
async function agentsOf(text: string) {
  const { agents } = ExperimentFile.parse(parse(text));
  const given = agents.map((agent) => (typeof agent === 'string' ? { name: agent, options: {} } : agent));
  for (const { name, options } of given) {
    checkAgentOptions(agentByName(name), options);
    await agentByName(name).ready?.(options);
  }
  return given;
}

test('automl-ablation.yaml runs automl unchanged, and without one part at a time', async () => {
  const given = await agentsOf(read('docs/how-to/automl-ablation.yaml'));
  const [whole, ...ablated] = given.map(({ options }) => options);
  expect(whole).toEqual({});
  expect(ablated.every((options) => Object.keys(options).length === 1)).toBe(true);
  expect(new Set(ablated.map((options) => JSON.stringify(options))).size).toBe(ablated.length);
});

test('automl-search-baseline.yaml runs the search and its baseline, with the names of its command', async () => {
  const text = read('docs/how-to/automl-search-baseline.yaml');
  const given = await agentsOf(text);
  expect(given.map(({ options }) => options.search ?? 'climb')).toEqual(['climb', 'random']);
  const labels = given.map(({ name, options }) =>
    agentLabel({ agent: name, model: null, agent_options: options }),
  );
  const compared = [...text.matchAll(/--compare (\S+) "(.*?)"/g)];
  expect(compared.map(([, search, baseline]) => [search, baseline])).toEqual([[labels[0], labels[1]]]);
});

/** The flags of each command, as docs/command-line.md lists them. */
const everywhere = ['--dir', '--task-dir', '--json', '--help', '--version'];
const flagsOf = new Map(
  read('docs/command-line.md')
    .split(/^### mlab /m)
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf('\n')),
      [...everywhere, ...[...section.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, flag]) => flag)],
    ]),
);

const verbs = [...new Set([...flagsOf.keys()].map((name) => name.split(' ')[0]))];
const mention = new RegExp(`\\bmlab ((?:${verbs.join('|')})\\b[^\\n\`#|]*)`, 'g');
const commands = pages.flatMap((page) =>
  [...read(page).matchAll(mention)].map(([, text = '']) => ({ page, words: text.trim().split(/\s+/) })),
);

test('the commands on the pages exist, with all their flags', () => {
  expect(commands.length).toBeGreaterThan(20);
  const unknown = commands.flatMap(({ page, words }) => {
    const name = [...flagsOf.keys()].find((known) => ` ${words.join(' ')} `.startsWith(` ${known} `));
    if (name === undefined) return [`${page}: mlab ${words.join(' ')}`];
    const flags = words.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? []);
    return flags
      .filter((flag) => flagsOf.get(name)?.includes(flag) !== true)
      .map((flag) => `${page}: mlab ${name} has no ${flag}`);
  });
  expect(unknown).toEqual([]);
});
