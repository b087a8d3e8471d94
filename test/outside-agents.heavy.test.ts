import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentByName } from '../src/agents/index.ts';
import { gradeRun } from '../src/grading/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { hasCode, UserError } from '../src/lib/errors.ts';
import { type Bundle, ensureBundle, type TaskResources } from '../src/runs/index.ts';
import { checkRun, readTraceSync } from '../src/store/index.ts';
import {
  inTurns,
  type SeenRequest,
  startProviderServer,
  type TurnsOptions,
  toolsOf,
} from './fakes/providers/index.ts';
import { helpersFolder, TaskBench } from './fixtures/fixture-task.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';
import {
  executeProgram,
  notesIn,
  runAgentProgram,
  secretKey,
  turnsIn,
} from './fixtures/outside/outside-place.ts';

const bench = new TaskBench();
let resources: TaskResources;

beforeAll(async () => {
  resources = await bench.provision(join(import.meta.dirname, '../tasks'), 'digits');
});
afterAll(() => {
  try {
    bench[Symbol.dispose]();
  } catch (error) {
    // A test that was cut off because the time was up still has its workspace mounted.
    if (!hasCode(error, 'EBUSY')) throw error;
  }
});

/** The real program, from this machine's cache or installed into it; otherwise the reason why it is not available. */
async function bundleOf(name: string): Promise<Bundle | string> {
  const wanted = agentByName(name).program?.package ?? null;
  if (wanted === null) return 'it has no package';
  try {
    const cache = cacheFolder(process.env);
    const signal = AbortSignal.timeout(480_000);
    return await ensureBundle(wanted, wanted.version, { cache, onProgress: () => {}, signal });
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    return error.message.split('\n').at(-1) ?? '';
  }
}

const improve = "sed -i 's/^LEARNING_RATE = .*/LEARNING_RATE = 0.1/' train.py && python train.py";
const byShell: TurnsOptions = {
  turns: [
    { run: 'mlab-check; ls "$MLAB_BRIEF"', text: 'I look around.' },
    { run: improve },
    { run: 'mlab-check' },
    // mini-swe-agent ends with this; for the others it is a command like any other.
    { run: 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT' },
    { text: 'I raised the learning rate.' },
  ],
};
const edit = [
  'I raise the learning rate.\n\ntrain.py\n```python\n<<<<<<< SEARCH\nLEARNING_RATE = 0.002\n',
  '=======\nLEARNING_RATE = 0.1\n>>>>>>> REPLACE\n```\n',
].join('');
const byText: TurnsOptions = { turns: [], texts: [edit] };

/** The starter with another learning rate, with the paths where AIDE shows its data and expects its submission. */
const solution = readFileSync(join(import.meta.dirname, '../tasks/digits/env/train.py'), 'utf8')
  .replace(/^LEARNING_RATE = .*$/m, 'LEARNING_RATE = 0.1')
  // AIDE does not run a script as `__main__`.
  .replace('if __name__ == "__main__":\n    main()', 'main()')
  .replaceAll('"data', '"./input/data')
  .replaceAll('"submission.csv"', '"./working/submission.csv"');
const byScripts: TurnsOptions = {
  turns: [
    {
      call: 'submit_review',
      input: { is_bug: false, summary: 'It learns.', metric: 0.97, lower_is_better: false },
    },
  ],
  texts: [`I raise the learning rate.\n\n\`\`\`python\n${solution}\n\`\`\`\n`],
};

const programs = [
  { name: 'codex', kind: 'openai', script: byShell, tells: true },
  { name: 'opencode', kind: 'openai', script: byShell, tells: true },
  { name: 'mini-swe-agent', kind: 'openai', script: byShell },
  { name: 'qwen-code', kind: 'openai', script: byShell, tells: true },
  { name: 'gemini-cli', kind: 'google', script: byShell, tells: true },
  { name: 'claude-code', kind: 'anthropic', script: byShell, onlyIf: 'MLAB_TEST_CLAUDE_CODE' },
  { name: 'aider', kind: 'openai', script: byText },
  { name: 'aide', kind: 'openai', script: byScripts, options: { steps: 1 } },
  { name: 'goose', kind: 'openai', script: byShell, counts: true },
  { name: 'goose', kind: 'openai-compatible', script: byShell, counts: true },
  { name: 'goose', kind: 'anthropic', script: byShell, counts: true },
  { name: 'goose', kind: 'google', script: byShell, counts: true },
  { name: 'openhands', kind: 'openai', script: byShell },
  { name: 'openhands', kind: 'openai-compatible', script: byShell },
  { name: 'codex-acp', kind: 'openai', script: byShell },
  { name: 'opencode', kind: 'openai', script: byShell, options: { protocol: 'acp' }, asks: true },
  { name: 'qwen-code', kind: 'openai', script: byShell, options: { protocol: 'acp' }, asks: true },
  { name: 'gemini-cli', kind: 'google', script: byShell, options: { protocol: 'acp' }, asks: true },
  { name: 'goose', kind: 'openai', script: byShell, options: { protocol: 'acp' }, asks: true },
] as const;

function titleOf(program: (typeof programs)[number]): string {
  const options = Object.entries('options' in program ? program.options : {});
  return [program.name, ...options.map(([name, value]) => `${name}=${value}`), `(${program.kind})`].join(' ');
}

/** Whether a request is a turn, and not one for a title. */
function offersTools({ body }: SeenRequest): boolean {
  return toolsOf(body).length > 0;
}

function turnsAsked(requests: readonly SeenRequest[]): number {
  return requests.filter(offersTools).length;
}

describeInSandbox('the real program', () => {
  test.for(programs.map((program) => [titleOf(program), program] as const))(
    '%s edits, runs and submits, as its scripted model requests',
    async ([, program], { skip }) => {
      const { name, kind, script } = program;
      const options = 'options' in program ? program.options : {};
      if ('onlyIf' in program && process.env[program.onlyIf] === undefined)
        skip(`its licence is its owner's: set ${program.onlyIf} to have it installed`);
      const bundle = await bundleOf(name);
      if (typeof bundle === 'string') return skip(bundle);
      await using server = await startProviderServer({ answer: inTurns(script) });
      const { record, folder } = await runAgentProgram(agentByName(name), options, bundle, {
        ...{ experiments: bench.experiments, resources, server, kind },
      });
      expect(record, record.end?.message).toMatchObject({
        status: 'finished',
        end: { reason: 'final_answer' },
      });
      expect(record.spec.agent_version).toBe(agentByName(name).program?.package?.version);
      const signal = new AbortController().signal;
      const grades = await gradeRun({ folder, ...resources, helpersFolder, which: 'all', signal });
      expect(grades.find(({ final }) => final)).toMatchObject({ valid: true });
      expect(grades.find(({ final }) => final)?.score).toBeCloseTo(0.9699, 3);
      const turns = turnsIn(folder);
      if (script === byShell) {
        expect(turns[0]?.observation).toContain('The grader would not accept this submission');
        expect(JSON.stringify(turns[1]?.args)).toContain('LEARNING_RATE = 0.1');
        expect(turns[2]?.observation).toContain('The grader would accept this submission.');
      }
      expect(server.requests.every(({ key }) => key === secretKey)).toBe(true);
      const end = readTraceSync(folder.tracePath).events.at(-1);
      const claimed = end?.kind === 'run_ended' ? end.claimed : undefined;
      if ('counts' in program) expect(claimed).toMatchObject({ tokens: 550 });
      if ('tells' in program) expect(claimed).toMatchObject({ session: expect.any(String), tokens: 550 });
      if ('asks' in program) expect(claimed?.session).toEqual(expect.any(String));
      const asked = notesIn(folder).filter(([entry]) => entry === 'Permissions');
      expect(asked.length > 0).toBe('asks' in program);
      expect(record.spent?.calls).toBe(server.requests.length);
      expect(await checkRun(folder)).toEqual([]);
    },
  );

  test.for(['codex', 'opencode'])(
    '%s continues a run that was stopped by its own session, which has lost nothing',
    async (name, { skip }) => {
      const bundle = await bundleOf(name);
      if (typeof bundle === 'string') return skip(bundle);
      const agent = agentByName(name);
      let cutOff = true;
      const script = inTurns({
        turns: [
          { run: 'echo first' },
          { run: 'echo second > second.txt && cat second.txt' },
          { run: 'cat second.txt' },
          { text: 'Done.' },
        ],
      });
      // The third turn's answer does not come before the run is stopped.
      await using server = await startProviderServer({
        answer: script,
        faults: () => (cutOff && turnsAsked(server.requests) >= 3 ? { kind: 'stall' } : null),
      });
      const options = { experiments: bench.experiments, resources, server };
      const stopping = new AbortController();
      const running = runAgentProgram(agent, {}, bundle, { ...options, signal: stopping.signal });
      while (turnsAsked(server.requests) < 3) await sleep(10);
      stopping.abort();
      const { record, experiment } = await running;
      expect(record).toMatchObject({ status: 'interrupted', steps: 2 });
      cutOff = false;
      const asked = server.requests.length;

      const { record: ended, folder } = await executeProgram(experiment, agent, bundle, options);
      expect(ended, ended.end?.message).toMatchObject({
        ...{ status: 'finished', steps: 4, end: { reason: 'final_answer' } },
      });
      expect(turnsIn(folder).map(({ observation }) => observation)).toEqual([
        expect.stringContaining('first'),
        expect.stringContaining('second'),
        expect.stringContaining('second'),
        '',
      ]);
      const continued = JSON.stringify(server.requests.slice(asked).find(offersTools)?.body);
      for (const known of ['echo first', 'second.txt && cat', 'The run was interrupted'])
        expect(continued).toContain(known);
      expect(notesIn(folder).map(([entry]) => entry)).toContain('Continued');
      expect(await checkRun(folder)).toEqual([]);
    },
  );
});
