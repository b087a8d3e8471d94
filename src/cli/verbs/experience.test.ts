import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { exampleEntry } from '../../../test/fixtures/experience.ts';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { agentLabel } from '../../evaluation/index.ts';
import { addEntries } from '../../experience/index.ts';
import { ExperimentFile, Plan } from '../../schema/index.ts';
import { createExperiment, openExperiment } from '../../store/index.ts';
import { loadTask } from '../../tasks/index.ts';
import { type Context, createContext } from '../context.ts';
import { lessonChooser } from '../lesson-chooser.ts';
import { experienceAdd } from './experience-add.ts';
import { experienceLs } from './experience-ls.ts';
import { experienceSearch } from './experience-search.ts';
import { run } from './run.ts';

let folder: string;
let context: Context;
const store = () => join(folder, 'experience.jsonl');

beforeEach(() => {
  folder = temporaryFolder();
  context = { ...createContext({ dir: folder }, {}, 'test', new AbortController().signal), log: () => {} };
});

describe('mlab experience', () => {
  it('collects what finished runs tried, once', async () => {
    await makeExampleRun(folder);
    const { json } = await experienceAdd.run(context, ['first'], {});
    expect(json).toEqual({ file: store(), runs: 1, found: 1, added: 1 });
    expect(await experienceAdd.run(context, ['first'], {})).toMatchObject({ json: { added: 0 } });
    const lines = readFileSync(store(), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        fingerprint: { task: 'digits', modality: 'image classification', metric: { name: 'accuracy' } },
        change: { kind: 'edit', text: 'A smaller learning rate may help.' },
        outcome: 'unclear',
        source: { experiment: 'first', run: 'digits-baseline-0', step: 2 },
      },
    ]);
  });

  it('lists and finds it, and shows which lessons a run on a task would get', async () => {
    await expect(experienceLs.run(context, [], {})).rejects.toThrow(/no experience/);
    addEntries(store(), [exampleEntry()]);
    expect((await experienceLs.run(context, [], {})).text).toContain('LEARNING_RATE: 0.3 → 0.03.');
    expect((await experienceLs.run(context, [], { task: 'house-price' })).json).toMatchObject({
      lessons: [{ fingerprint: { task: 'diabetes' } }],
    });
    expect((await experienceLs.run(context, [], { task: 'diabetes' })).json).toEqual({ lessons: [] });
    const found = await experienceSearch.run(context, ['learning', 'rate'], { experience: folder });
    expect(found.json).toMatchObject({ found: [{ entry: exampleEntry() }] });
    const same = await experienceSearch.run(context, ['learning'], { task: 'diabetes' });
    expect(same.text).toBe('Nothing found.');
  });
});

describe('mlab run --experience', () => {
  const planned = async (flags: object) => {
    const options = {
      task: ['house-price'],
      agent: ['tools'],
      model: ['anthropic/claude-sonnet-4-5'],
      incomplete: 'continue',
      dryRun: true,
      ...flags,
    };
    return Plan.parse((await run.run(context, [], options)).json);
  };

  it('plans runs with lessons of other tasks, and none without the flag', async () => {
    addEntries(store(), [exampleEntry()]);
    const warm = (await planned({ experience: folder })).runs[0];
    expect(warm?.experience).toMatchObject([{ id: exampleEntry().id, fingerprint: { task: 'diabetes' } }]);
    expect(warm?.caveats).toContain('warm: 1 lesson');
    expect(warm === undefined ? '' : agentLabel(warm)).toBe('tools(anthropic/claude-sonnet-4-5, warm)');
    expect((await planned({})).runs[0]).not.toHaveProperty('experience');
    expect((await planned({ task: ['diabetes'], experience: folder })).runs[0]?.experience).toEqual([]);
    await expect(planned({ experience: join(folder, 'none') })).rejects.toThrow(/no experience/);
    await expect(planned({ sameTask: true })).rejects.toThrow(/--same-task/);
  });

  it('gives a resumed experiment the lessons of its plan, however much the store has grown', async () => {
    addEntries(store(), [exampleEntry()]);
    const first = await planned({ experience: store() });
    createExperiment(join(folder, first.name), first);
    addEntries(store(), [exampleEntry({ id: 'ba9876543210', change: { kind: 'edit', text: 'Use trees' } })]);
    const again = await planned({ experience: store() });
    expect(again.runs).toEqual(first.runs);
    expect(createExperiment(join(folder, again.name), again).plan).toEqual(
      openExperiment(join(folder, first.name)).plan,
    );
    const choose = lessonChooser(context, ExperimentFile.parse({ experience: store() }));
    expect(choose?.(loadTask('house-price', context.folders.tasks), 'another')).toHaveLength(2);
  });
});
