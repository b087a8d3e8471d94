import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakeEngine } from '../../test/fakes/container-engine.ts';
import { fixtureTasks, helpersFolder, TaskBench } from '../../test/fixtures/fixture-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { TaskId } from '../schema/index.ts';
import {
  loadTask,
  type PreparedData,
  type PreparedManifest,
  type PythonEnvironment,
} from '../tasks/index.ts';
import { LocalServices } from './local-services.ts';

const declared = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');

afterEach(() => vi.unstubAllEnvs());

describe('the services of a task', () => {
  it('leave nothing behind when the sandbox of one does not start', async () => {
    using bench = new TaskBench();
    const services = '\nservices:\n  - { name: oracle, script: service.py }\n';
    const tasks = bench.copyTask('served', {
      'task.yaml': `${declared}${services}`,
      'hidden/service.py': '',
    });
    const data = temporaryFolder();
    const engine = fakeEngine(temporaryFolder());
    engine.refuse();
    const temporary = temporaryFolder();
    vi.stubEnv('TMPDIR', temporary);
    const start = LocalServices.start({
      task: loadTask('sums', [tasks]),
      prepared: preparedIn(data),
      python: pythonIn(data),
      concealed: [],
      helpersFolder,
      driver: 'docker',
      sandboxOptions: { dockerCommand: engine.command },
      signal: new AbortController().signal,
    });
    await expect(start).rejects.toMatchObject({ name: 'SandboxError' });
    expect(readdirSync(temporary)).toEqual([]);
  });
});

function pythonIn(folder: string): PythonEnvironment {
  const paths = { environment: folder, executable: join(folder, 'python'), sitePackages: folder };
  return { ...paths, basePrefix: folder, version: '3.12.4', packages: {} };
}

function preparedIn(folder: string): PreparedData {
  const manifest: PreparedManifest = {
    ...{ schema: 1, task: TaskId.parse('sums'), recipe: '', sources: [], verified: true, files: [] },
    prepared_at: '2026-01-01T00:00:00Z',
  };
  return { folder, publicFolder: folder, privateFolder: folder, verified: true, manifest };
}
