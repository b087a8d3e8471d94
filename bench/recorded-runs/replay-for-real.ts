import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, agentByName } from '../../src/agents/index.ts';
import type { ActionDescription, Environment, StepResult } from '../../src/environment/index.ts';
import { gradeRun } from '../../src/grading/index.ts';
import { ModelRegistry } from '../../src/models/index.ts';
import { executeRun, makePlan, type TaskResources } from '../../src/runs/index.ts';
import { type Action, ExperimentFile, type Grade, type ModelRequest } from '../../src/schema/index.ts';
import {
  createExperiment,
  lastSnapshot,
  type RunFolder,
  readTraceSync,
  restoreSnapshot,
} from '../../src/store/index.ts';
import { helpersFolder } from '../task-resources.ts';
import { RecordedGuide } from './recorded-guide.ts';
import type { RecordedRun } from './recorded-run.ts';

/** The results of a run: as recorded, and executed again. */
export interface RealReplay {
  run: string;
  /** How ours ended, and with how many steps. */
  end: string;
  steps: number;
  recorded_steps: number;
  /** Python scripts of the final workspace that are the same, and those that are not (or are missing). */
  scripts: { same: string[]; other: string[] };
  /** Our grader's scores of our submission, and of the recorded one; null if there is none. */
  score: number | null;
  recorded_score: number | null;
  /** Over all rows of the two submissions, relative to the recorded value; null if one is missing. */
  largest_difference: number | null;
}

export interface RealReplayOptions {
  run: RecordedRun;
  resources: TaskResources;
  /** An empty folder, for the experiments. */
  folder: string;
  signal: AbortSignal;
}

/**
 * Executes a recorded run again: the models give their recorded replies, and everything else is real: scripts are
 * edited by our actions, run in the sandbox, and the submission is graded.
 */
export async function replayForReal(options: RealReplayOptions): Promise<RealReplay> {
  const { run, resources, folder, signal } = options;
  const { record, folder: runFolder } = await executeReplay(guidedAgent(run), options, 'replayed');
  const grade = await scoreOf(runFolder, resources, signal);
  const workspace = join(folder, 'final');
  const last = lastSnapshot(readTraceSync(runFolder.tracePath).events);
  if (last !== null) await restoreSnapshot(runFolder.objects, last.snapshot, workspace);
  const recordedFiles = join(run.folder, 'final_files');
  const recordedSubmission = textOf(join(recordedFiles, 'submission.csv'));
  const submission = textOf(join(workspace, 'submission.csv'));
  return {
    run: `${run.model}/${run.task}/${run.run}`,
    end: record.end?.reason ?? record.status,
    steps: record.steps,
    recorded_steps: run.steps.length,
    scripts: compareScripts(recordedFiles, workspace),
    score: grade,
    recorded_score: recordedSubmission === null ? null : await scoreOfText(recordedSubmission, options),
    largest_difference:
      submission === null || recordedSubmission === null
        ? null
        : largestDifference(recordedSubmission, submission),
  };
}

async function executeReplay(
  { agent, registry }: { agent: Agent; registry: ModelRegistry | null },
  { resources, folder, signal }: RealReplayOptions,
  name: string,
) {
  const file = ExperimentFile.parse({
    name,
    tasks: [resources.task.file.id],
    agents: [agent.name],
    ...(registry === null ? {} : { roles: recordedRoles }),
  });
  const options = agent.needs.model ? { profile: 'paper' } : {};
  const { verified } = resources.prepared;
  const plan = makePlan(file, [{ task: resources.task, verified }], [{ agent, options }], '0');
  const experiment = createExperiment(join(folder, name), plan);
  const [spec] = experiment.plan.runs;
  if (spec === undefined) throw new Error('the plan is empty');
  const runFolder = experiment.runFolder(spec.id);
  using _lock = runFolder.lock();
  const record = await executeRun(spec, {
    ...{
      folder: runFolder,
      resources,
      agent,
      helpersFolder,
      reference: null,
      versions: {},
      threads: 1,
      signal,
    },
    ...(registry === null ? {} : { models: { registry, shared: null } }),
    onProgress: () => {},
  });
  return { record, folder: runFolder };
}

async function scoreOf(
  folder: RunFolder,
  resources: TaskResources,
  signal: AbortSignal,
): Promise<number | null> {
  const [grade]: (Grade | undefined)[] = await gradeRun({
    ...{ folder, ...resources, helpersFolder, which: 'final', signal },
  });
  return grade?.score ?? null;
}

/** Our grader's result for a submission, by a run that only writes it. */
async function scoreOfText(content: string, options: RealReplayOptions): Promise<number | null> {
  const writer: Agent = {
    ...{
      name: 'writer',
      summary: 'Writes a submission.',
      needs: { model: false, reference: false },
      options: {},
    },
    async run({ environment }) {
      await environment.step({ name: 'Write File', args: { file_name: 'submission.csv', content } });
      await environment.step({ name: 'Final Answer', args: { final_answer: 'written' } });
    },
  };
  const { folder } = await executeReplay({ agent: writer, registry: null }, options, 'recorded');
  return scoreOf(folder, options.resources, options.signal);
}

const recordedRoles = {
  agent: { model: 'recorded/agent' },
  editor: { model: 'recorded/editor' },
  fast: { model: 'recorded/fast' },
};

/** The research agent with a guide through the recorded run, and models that give the guide's replies. */
function guidedAgent(run: RecordedRun): { agent: Agent; registry: ModelRegistry } {
  const guide = new RecordedGuide(run);
  /** The answer to the next call of a model, by the name of the model. */
  let answer: (model: string) => string = () => '';
  const research = agentByName('research');
  const agent: Agent = {
    ...research,
    run: (context) =>
      research.run({
        ...context,
        environment: watched(context.environment, {
          onAsk: (request) => {
            const text = guide.reply(request) ?? '';
            answer = () => text;
          },
          onStep: (action) => {
            const recorded = guide.take(action);
            const [edited = ''] =
              recorded === undefined ? [] : (run.toolReplies.get(run.steps.indexOf(recorded)) ?? []);
            answer = (model) => (model === 'recorded/editor' ? edited : (recorded?.observation ?? ''));
          },
        }),
      }),
  };
  const registry = new ModelRegistry({
    ...{ variables: {}, folder: run.folder },
    connect: async (model) => ({
      call: async () => ({
        answer: { kind: 'answered', text: answer(model), tool_calls: [], finish: 'stop' },
        answeredBy: null,
        usage: null,
      }),
    }),
  });
  return { agent, registry };
}

interface Watcher {
  onAsk(request: ModelRequest): void;
  onStep(action: Action): void;
}

function watched(environment: Environment, { onAsk, onStep }: Watcher): Environment {
  return {
    id: environment.id,
    origin: environment.origin,
    task: environment.task,
    // The original did not have the others, and its model could have named them by chance.
    actions: environment.actions.filter(({ name }: ActionDescription) => name !== 'Edit File'),
    budget: environment.budget,
    step: (action): Promise<StepResult> => {
      onStep(action);
      return environment.step(action);
    },
    ask: (request) => {
      onAsk(request);
      return environment.ask(request);
    },
    fork: (at) => environment.fork(at),
    select: (branch) => environment.select(branch),
    giveUp: (reason, message) => environment.giveUp(reason, message),
    note: (entries) => environment.note(entries),
  };
}

function compareScripts(recorded: string, ours: string): RealReplay['scripts'] {
  mkdirSync(ours, { recursive: true });
  const names = readdirSync(recorded).filter((name) => name.endsWith('.py'));
  const isSame = (name: string) => plainText(join(recorded, name)) === plainText(join(ours, name));
  return { same: names.filter(isSame), other: names.filter((name) => !isSame(name)) };
}

/** Without differences in the ways in which the two systems write text files. */
function plainText(path: string): string | null {
  return textOf(path)?.replaceAll('\r\n', '\n').trim() ?? null;
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Of two tables with an id and a number in each row. */
function largestDifference(recorded: string, ours: string): number {
  const values = (text: string) =>
    new Map(
      text
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((line) => line.split(','))
        .map(([id = '', value]) => [id, Number(value)]),
    );
  const mine = values(ours);
  const differences = [...values(recorded)].map(
    ([id, value]) => Math.abs((mine.get(id) ?? NaN) - value) / value,
  );
  return Math.max(...differences);
}
