import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRecordedRun } from '../bench/recorded-runs/recorded-run.ts';
import { replayForReal } from '../bench/recorded-runs/replay-for-real.ts';
import type { TaskResources } from '../src/runs/index.ts';
import { TaskBench } from './fixtures/fixture-task.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';

const bench = new TaskBench();
let resources: TaskResources;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

const better = `import csv
rows = list(csv.DictReader(open("data/test.csv")))
with open("submission.csv", "w") as file:
    print("id,sum", file=file)
    for row in rows:
        print(row["id"], int(row["a"]) + int(row["b"]), sep=",", file=file)
`;

/** A recorded run in the format in which the original's were published: an edit, a script run, an answer. */
function writeRecordedRun(folder: string): void {
  const edit = { script_name: 'train.py', edit_instruction: 'add both', save_name: 'better.py' };
  const actions: [name: string, args: Record<string, string>][] = [
    ['Edit Script (AI)', edit],
    ['Execute Script', { script_name: 'better.py' }],
    ['Final Answer', { final_answer: 'done' }],
  ];
  const steps = actions.flatMap(([name, args], turn) => [
    { action: { name, args }, observation: 'as it was then' },
    {
      action: {
        name: 'Append Summary to Research Log',
        args: { content: `\n\nStep ${turn}:\n[Reasoning]: x\n` },
      },
      observation: 'appended',
    },
  ]);
  const call = (role: string, step: number, completion: string) => ({
    where: 'agent',
    role,
    agent_step: step,
    prompt: '',
    completion,
  });
  const calls = [
    ...actions.flatMap(([name, args], turn) => [
      call('agent', turn, replyOf(name, args)),
      call('summary', turn, '[Reasoning]: x'),
    ]),
    { where: 'tool', role: 'tool', env_step: 0, prompt: '', completion: `\`\`\`python\n${better}\`\`\`` },
  ];
  mkdirSync(join(folder, 'final_files'), { recursive: true });
  const trace = { steps, low_level_steps: [], task_description: 'Add.' };
  writeFileSync(join(folder, 'meta.json'), JSON.stringify({ model: 'a-model', task: 'sums', run: 0 }));
  writeFileSync(join(folder, 'calls.jsonl.gz'), gzipSync(calls.map((one) => JSON.stringify(one)).join('\n')));
  writeFileSync(join(folder, 'trace.json.gz'), gzipSync(JSON.stringify(trace)));
  writeFileSync(join(folder, 'final_files/better.py'), better.replaceAll('\n', '\r\n'));
  writeFileSync(join(folder, 'final_files/lost.py'), 'pass');
  writeFileSync(join(folder, 'final_files/submission.csv'), 'id,sum\n1,1\n');
}

function replyOf(name: string, args: Record<string, string>): string {
  const entries = ['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought'];
  const said = entries.map((entry) => `${entry}: so it is`);
  return [...said, `Action: ${name}`, `Action Input: ${JSON.stringify(args)}`].join('\n');
}

describeInSandbox('a recorded run that is carried out anew', () => {
  test('is edited, run and graded for real, and compared with its recorded results', async () => {
    const folder = join(bench.folder, 'recorded');
    writeRecordedRun(folder);
    const { signal } = new AbortController();
    const run = readRecordedRun(folder);
    const replay = await replayForReal({ run, resources, folder: join(bench.folder, 'anew'), signal });
    expect(replay).toEqual({
      run: 'a-model/sums/0',
      end: 'final_answer',
      steps: 5,
      recorded_steps: 6,
      scripts: { same: ['better.py'], other: ['lost.py'] },
      score: 0,
      // It lacks rows, so this project's grader refuses it.
      recorded_score: null,
      largest_difference: expect.any(Number),
    });
  });
});
