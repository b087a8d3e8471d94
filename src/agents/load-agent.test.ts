import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentSource } from '../schema/index.ts';
import { findAgent } from './load-agent.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'mlab-agents-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;

/** A fresh folder with files. */
function folderWith(files: Record<string, string>): string {
  const folder = join(root, String(folders++));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const module = `import { type Agent, wholeNumberOption } from 'mlagentbench/agent';
import { words } from './words.ts';
export default {
  name: 'mine', summary: words, needs: { model: false, reference: false },
  options: { rounds: { description: 'rounds', default: 2 } },
  async run({ options }) { wholeNumberOption(this, options, 'rounds', 1); },
} satisfies Agent;
`;
const own = (words: string) =>
  folderWith({ 'mine.ts': module, 'words.ts': `export const words: string = '${words}';\n` });

const Found = z.object({
  name: z.string().optional(),
  source: AgentSource.optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});
type Found = z.infer<typeof Found>;

/** Runs in a separate Node process, because the test process loads modules in its own way. */
async function inProcess(expression: string, folder: string): Promise<Found> {
  const agents = pathToFileURL(join(import.meta.dirname, 'index.ts')).href;
  const program = `import { agentOfRun, findAgent } from '${agents}';
    const outcome = await (${expression}).then(
      (found) => ({ name: (found.agent ?? found).name, source: found.source }),
      ({ code, message }) => ({ code, message }),
    );
    console.log(JSON.stringify(outcome));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
  });
  return Found.parse(JSON.parse(stdout));
}

const find = (name: string, folder: string) =>
  inProcess(`findAgent(${JSON.stringify(name)}, process.cwd())`, folder);

test('loads an agent from a TypeScript file in any folder', async () => {
  const { name, source, message } = await find('./mine.ts', own('Does nothing.'));
  expect([name, message]).toEqual(['mine', undefined]);
  expect(source?.path).toMatch(/\/mine\.ts$/);
});

test('the hash of a source includes its imports, and does not depend on its folder', async () => {
  const [one, same, other] = await Promise.all(
    ['First.', 'First.', 'Second.'].map(async (words) => (await find('mine.ts', own(words))).source?.sha256),
  );
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});

test('loads an agent from an installed package', async () => {
  const folder = folderWith({
    'node_modules/agent-of-others/package.json': '{ "name": "agent-of-others", "main": "main.cjs" }',
    'node_modules/agent-of-others/main.cjs':
      "exports.agent = { name: 'others', summary: 's', needs: { model: false, reference: false }, options: {}, run() {} };",
  });
  const { name, source } = await find('agent-of-others', folder);
  expect([name, source?.path]).toEqual(['others', join(folder, 'node_modules/agent-of-others/main.cjs')]);
});

test('finds the agent of a planned run again, and refuses one that has changed', async () => {
  const folder = own('Third.');
  const { source } = await find('./mine.ts', folder);
  const again = (planned: unknown) => inProcess(`agentOfRun(${JSON.stringify(planned)})`, folder);
  expect(await again({ agent: 'mine', agent_source: source })).toEqual({ name: 'mine' });
  expect(await again({ agent: 'noop' })).toEqual({ name: 'noop' });
  writeFileSync(join(folder, 'words.ts'), "export const words: string = 'Fourth.';\n");
  expect(await again({ agent: 'mine', agent_source: source })).toMatchObject({ code: 'agent_changed' });
});

test.each([
  ['agent_not_found', './missing.ts', {}],
  ['unknown_agent', 'missing', {}],
  ['agent_not_loaded', './broken.ts', { 'broken.ts': 'export default {' }],
  ['no_agent', './empty.ts', { 'empty.ts': 'export const a = 1;' }],
  ['bad_agent', './half.ts', { 'half.ts': "export default { name: 'half' };" }],
  [
    'bad_agent',
    './greedy.ts',
    {
      'greedy.ts':
        "export default { name: 'greedy', summary: 's', needs: { model: false, reference: true }, options: {}, run() {} };",
    },
  ],
  [
    'agent_name_taken',
    './taken.ts',
    {
      'taken.ts':
        "export default { name: 'automl', summary: 's', needs: { model: false, reference: false }, options: {}, run() {} };",
    },
  ],
])('reports %s for %s', async (code, name, files) => {
  const folder = folderWith({ 'package.json': '{ "type": "module" }', ...files });
  expect(await find(name, folder)).toMatchObject({ code });
});

test('a command in quotes, as copied from a shell into a file, is the command inside the quotes', async () => {
  const folder = folderWith({ 'my_agent.py': '' });
  const optionsOf = async (name: string) => (await findAgent(name, folder)).options;
  expect(await optionsOf('command:"python my_agent.py"')).toEqual(
    await optionsOf('command:python my_agent.py'),
  );
  expect((await optionsOf('command:"my agent" --now'))?.command).toBe('"my agent" --now');
});
