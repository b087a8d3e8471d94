import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { runOnce } from '../../test/fixtures/run-place.ts';
import { traceText } from '../../test/fixtures/store/trace-text.ts';
import { type Agent, agentByName } from '../agents/index.ts';
import { readTranscript } from '../evaluation/index.ts';
import { ModelRegistry } from '../models/index.ts';
import type { AgentOptions } from '../schema/index.ts';
import { checkRun, type RunFolder, readTraceSync, resolveText, stepsOf } from '../store/index.ts';
import { replayRun, type TaskResources } from './index.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

function reply(action: string, args: Record<string, unknown>): string {
  const entries = ['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought'];
  const said = entries.map((name) => `${name}: **${name.toLowerCase()}** of the turn`);
  return [...said, `Action: ${action}`, `Action Input: ${JSON.stringify(args)}`].join('\n');
}

const train = { script_name: 'train.py' };
const edit = { ...train, edit_instruction: 'print more', save_name: 'more.py' };
const replies = [
  reply('List Files', { dir_path: '.' }),
  reply('Execute Script', train),
  'I have no idea what to do.',
  reply('Edit Script (AI)', edit),
  reply('Execute Script', { script_name: 'more.py' }),
  `${reply('Read File', { file_name: 'more.py' }).slice(0, -4)}`,
  reply('Read File', { file_name: 'more.py' }),
  reply('Reflection', { things_to_reflect_on: 'all of it' }),
  // By default the first one is held back: the submission is stale.
  reply('Final Answer', { final_answer: 'done' }),
  reply('Final Answer', { final_answer: 'done' }),
];

/** A script of replies for the agent, and the constant replies of the other two roles. */
function registry(): ModelRegistry {
  const script = [
    ...replies.map((text) => ({ role: 'agent', text })),
    { role: 'editor', repeat: true, text: '```python\nprint("x" * 6000)\n```' },
    { role: 'fast', repeat: true, text: '[Reasoning]: a summary' },
  ];
  writeFileSync(join(bench.folder, 'replies.jsonl'), script.map((line) => JSON.stringify(line)).join('\n'));
  return new ModelRegistry({ variables: {}, folder: bench.folder });
}

function run(experiments: string, agent: Agent, agentOptions: AgentOptions) {
  const changes = { models: ['scripted/replies.jsonl'] };
  const models = { registry: registry(), shared: null };
  return runOnce(experiments, resources, agent, { changes, agentOptions, models });
}

function newPlace(): string {
  places += 1;
  return join(bench.experiments, String(places));
}

function deedsOf(folder: RunFolder) {
  const { events } = readTraceSync(folder.tracePath);
  return stepsOf(events).map(({ started, finished }) => ({
    action: started.action,
    args: resolveText(folder.objects, started.args).replaceAll(/\d+\.\d s/g, 'S'),
    status: finished.status,
    observation: resolveText(folder.objects, finished.observation).replaceAll(/\d+\.\d s/g, 'S'),
  }));
}

const agents: [string, AgentOptions][] = [
  ['research', {}],
  ['research', { profile: 'paper' }],
  ['react', {}],
  ['act', {}],
];

describeInSandbox('an agent that writes its actions as text', () => {
  test.each(agents)(
    '%s %o resumes after a kill at any moment with the same actions',
    async (name, options) => {
      const agent = agentByName(name);
      const { record, folder: whole } = await run(newPlace(), agent, options);
      expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' } });
      const deeds = deedsOf(whole);
      expect(deeds.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['List Files', 'Execute Script', 'Edit Script (AI)', 'Final Answer']),
      );
      const { formatErrors } = readTranscript(whole, []);
      expect(formatErrors.map((error) => error.reply)).toEqual([replies[2], replies[5]]);
      const replayed = await replayRun(record.spec, whole, agent, resources.task);
      expect(replayed.diverged).toBe(null);
      const lines = traceText(whole.tracePath).split('\n');
      for (const share of [0.15, 0.4, 0.65, 0.9]) {
        const experiments = newPlace();
        const { folder } = await run(experiments, agent, options);
        // What a killed process leaves: whole lines, and a part of one.
        const trace = traceText(folder.tracePath);
        const kept =
          trace
            .split('\n')
            .slice(0, Math.floor(lines.length * share))
            .join('\n').length + 20;
        writeFileSync(folder.tracePath, trace.slice(0, kept));
        const again = await run(experiments, agent, options);
        expect(again.record, `at ${share}`).toMatchObject({ status: 'finished', end: record.end });
        expect(deedsOf(again.folder), `at ${share}`).toEqual(deeds);
        expect(await checkRun(again.folder)).toEqual([]);
      }
    },
  );
});
