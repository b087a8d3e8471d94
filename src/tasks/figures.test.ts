import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { saveFigures, withFigures } from './figures.ts';
import { loadTask } from './find-tasks.ts';
import type { PreparedData } from './prepared-data.ts';
import { dataCaveats } from './sample.ts';

const [standIn, original] = ['a'.repeat(64), 'b'.repeat(64)];

/** A task that was measured on stand-in data for its one source. */
function place() {
  const tasks = temporaryFolder();
  const sources = [{ file: 'rows.csv', url: 'https://example.org/rows.csv', licence: 'free' }];
  const measured_on = { what: 'ten of the rows', sha256: { 'rows.csv': standIn } };
  const data = { size: '100 rows', split: 'the last ten', measured_on };
  makeTask(tasks, 'colours', { fields: { sources, data } });
  return { task: loadTask('colours', [tasks]), cache: temporaryFolder() };
}

function prepared(sha256: string): PreparedData {
  const record = { file: 'rows.csv', bytes: 1, sha256, expected: null, from: 'mirror' as const };
  const folder = `/data/colours/${sha256.slice(0, 8)}`;
  const manifest = { schema: 1 as const, recipe: '', sources: [record], verified: true, files: [] };
  return {
    ...{ folder, publicFolder: `${folder}/public`, privateFolder: `${folder}/private`, verified: true },
    manifest: { ...manifest, task: 'colours' as never, prepared_at: '2026-01-01T00:00:00Z' },
  };
}

const measured = { mean: 0.61, spread: 0.02, seeds: 3, seconds: 4 };

describe('the figures of a task', () => {
  it('apply to the data that they were measured on, and to other data only with a caveat', () => {
    const { task, cache } = place();
    expect(dataCaveats(withFigures(task, prepared(standIn), { cache }), true)).toEqual([]);
    const other = withFigures(task, prepared(original), { cache });
    expect(dataCaveats(other, true)).toEqual(['baseline of other data']);
    expect(other.file.baseline.mean).toBe(task.file.baseline.mean);
  });

  it('that were measured on sample data apply to no real files', () => {
    const tasks = temporaryFolder();
    const data = { size: '100 rows', split: 'the last ten', measured_on: { what: 'the sample', sha256: {} } };
    makeTask(tasks, 'colours', { fields: { data } });
    const task = loadTask('colours', [tasks]);
    expect(withFigures(task, prepared(standIn), { cache: temporaryFolder() }).figures).toBe('of other data');
  });

  it('are those measured here only for this copy of the data', () => {
    const { task, cache } = place();
    saveFigures(task, prepared(original), { baseline: { ...measured, machine: 'here' } }, { cache });
    saveFigures(task, prepared(original), { reference: { ...measured, mean: 0.8 } }, { cache });
    const own = withFigures(task, prepared(original), { cache });
    expect(own.file.baseline).toMatchObject({ mean: 0.61, machine: 'here', method: 'starter' });
    expect(own.file.reference).toMatchObject({ mean: 0.8, description: 'a better one' });
    expect(dataCaveats(own, true)).toEqual(['baseline measured here']);
    expect(withFigures(task, prepared(standIn), { cache }).figures).toBe('declared');
  });

  it('are those of task.yaml if the file with figures measured here is damaged', () => {
    const { task, cache } = place();
    saveFigures(task, prepared(standIn), { baseline: { ...measured, machine: 'here' } }, { cache });
    writeFileSync(join(cache, 'figures/colours', 'aaaaaaaa.json'), '{"schema":1,"base');
    expect(withFigures(task, prepared(standIn), { cache }).file).toEqual(task.file);
  });
});
