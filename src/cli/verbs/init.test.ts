import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { ExperimentFile } from '../../schema/index.ts';
import { loadTask, validateTask } from '../../tasks/index.ts';
import { createContext } from '../context.ts';
import { init } from './init.ts';

const context = createContext({}, {}, '1.2.3', new AbortController().signal);
const Manifest = z.object({ name: z.string().optional(), devDependencies: z.record(z.string(), z.string()) });
const manifestIn = (folder: string) =>
  Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

describe('mlab init', () => {
  test('creates a project whose parts fit together, and says what to do next', async () => {
    const folder = join(temporaryFolder(), 'My Bench');
    const { text } = await init.run(context, [folder], {});
    expect(text).toContain('npx mlab run experiment.yaml');
    expect(readdirSync(folder).toSorted()).toEqual([
      ...['.gitignore', 'README.md', 'agents', 'experiment.yaml', 'package.json', 'tasks', 'tsconfig.json'],
    ]);
    const experiment = ExperimentFile.parse(parse(readFileSync(join(folder, 'experiment.yaml'), 'utf8')));
    const [task = ''] = experiment.tasks;
    expect(validateTask(join(folder, 'tasks', task))).toEqual([]);
    expect(loadTask(join(folder, 'tasks', task), []).file.baseline.mean).toBeGreaterThan(80);
    const agent = experiment.agents.find((each) => typeof each === 'string' && each.startsWith('./'));
    expect(readFileSync(join(folder, String(agent)), 'utf8')).toContain('mlagentbench/agent');
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(/^# my-bench\n/);
  });

  test('requires the same compiler as the package itself', async () => {
    const folder = join(temporaryFolder(), 'bench');
    await init.run(context, [folder], {});
    const { name, devDependencies } = manifestIn(folder);
    const own = manifestIn(join(import.meta.dirname, '../../..')).devDependencies;
    expect(name).toBe('bench');
    expect(devDependencies).toEqual({
      '@types/node': own['@types/node'],
      mlagentbench: `file:${context.folders.package}`,
      typescript: own.typescript,
    });
  });

  test('uses an empty folder, also one with a repository, and leaves others alone', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, '.git'));
    await init.run(context, [folder], {});
    await expect(init.run(context, [folder], {})).rejects.toMatchObject({ code: 'folder_not_empty' });
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, 'mine');
    await expect(init.run(context, [file], {})).rejects.toMatchObject({ code: 'folder_not_empty' });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});
