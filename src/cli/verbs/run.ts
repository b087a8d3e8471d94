import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate } from '../../environment/index.ts';
import { UserError } from '../../lib/errors.ts';
import { withModelsOf } from '../../models/index.ts';
import {
  anyAgentOfRun,
  makePlan,
  type PlannedTask,
  type RemoteExecutor,
  type TaskResources,
} from '../../runs/index.ts';
import { sandboxOptions, trySandbox } from '../../sandbox/index.ts';
import type { ExperimentFile, Plan, RunSpec } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import { sampleCaveat, sampleOf, type Task } from '../../tasks/index.ts';
import { type AgentFlags, agentFlags, agentPlace, chosenAgents } from '../agent-options.ts';
import { approveActions } from '../approve-actions.ts';
import { branchOf, personName } from '../begin-branch.ts';
import { branchResult } from '../branch-result.ts';
import { checkApproval } from '../check-approval.ts';
import { checkMoney } from '../check-money.ts';
import { checkTokens } from '../check-tokens.ts';
import type { Context } from '../context.ts';
import { conclude, executePlan, getPrograms } from '../execute-plan.ts';
import {
  documentsElsewhere,
  executeThere,
  executorNameOf,
  isHere,
  refuseUncountedLimit,
  tryPlace,
  withDocuments,
  withGateway,
} from '../execute-there.ts';
import { confirmCost, costText, expectedCost, unpricedWarnings } from '../expected-cost.ts';
import { experimentFlags, keysSet, readExperiment } from '../experiment-flags.ts';
import { asItsRun, type ForkFlags, findParent, forkFlags, makeFork, onData } from '../fork-flags.ts';
import { gpusFor } from '../gpus-of-run.ts';
import { refuseKeysInPlan } from '../keys-in-plan.ts';
import { lessonChooser } from '../lesson-chooser.ts';
import { registryOf } from '../model-registry.ts';
import { atATime } from '../progress.ts';
import { counted } from '../table.ts';
import { taskFlagsOf } from '../task-flags.ts';
import {
  checkDataOf,
  chooseTasks,
  isVerified,
  prepareFlags,
  provision,
  provisioningOf,
  type ResourceFlags,
} from '../task-resources.ts';
import { terminalQuestions } from '../terminal-questions.ts';
import { refuseHostFiles } from '../trust.ts';
import type { Verb } from '../verb.ts';
import { viewExperiment, withViewer } from '../view-experiment.ts';

interface Options extends ResourceFlags, AgentFlags, ForkFlags {
  artifacts?: string;
  incomplete: (typeof incompleteChoices)[number];
  dryRun?: boolean;
  yes?: boolean;
  view?: boolean;
  approve?: boolean;
}

const incompleteChoices = ['continue', 'restart', 'keep'] as const;

export const run: Verb = {
  arguments: [{ name: '[experiment]', description: 'experiment file (YAML); flags override it' }],
  flags: [
    ...experimentFlags(),
    {
      flags: '--incomplete <what>',
      choices: incompleteChoices,
      description: 'what to do with incomplete runs: continue, restart or keep',
      default: 'continue',
      formerly: '--broken',
    },
    ...agentFlags,
    ...forkFlags,
    { flags: '--dry-run', description: 'print the plan and the expected cost, then exit' },
    { flags: '--yes', description: 'do not ask for confirmation before expensive runs' },
    { flags: '--view', description: 'open the experiment in the browser while it runs' },
    {
      flags: '--approve',
      description:
        'ask at the terminal before every action: allow, edit, deny or take over; one run at a time',
    },
    ...prepareFlags,
  ],
  details:
    'Run the same command again to resume: finished runs are kept, incomplete ones continue from their last recorded\n' +
    'step (--incomplete restart starts them over). Ctrl-C stops cleanly; a second Ctrl-C stops at once.\n' +
    'With --on slurm, kubernetes or redis the first Ctrl-C only stops following; a second one within 5 s cancels the jobs.',
  negative: 'a run could not be finished or graded',
  examples: [
    ['mlab run --suite starter --agent automl --seeds 2', 'three tasks, two seeds each, no API key needed'],
    ['mlab run --task digits --agent baseline,automl --seeds 3 --wall-seconds 120', 'two agents on one task'],
    ['mlab run --task digits --agent tools --model anthropic/claude-sonnet-4-5', 'a language-model agent'],
    [
      'mlab run --from start-1/digits-tools-0 --step 7',
      'a branch: let the agent continue from step 7 once more',
    ],
    ['mlab run --from start-1/digits-automl-0 --steps 90', 'a fork: a new experiment with another limit'],
    ['mlab run --task digits --agent ./my-agent.ts,./my_agent.py', 'your own agents'],
    [
      'mlab run --task digits --agent opencode --agent-option protocol=acp --approve --model openai/gpt-5',
      'an agent program that asks for permission (docs/agents/acp.md)',
    ],
    ['mlab run --suite starter --view', 'watch it in the browser'],
    ['mlab run experiment.yaml --parallel 4', 'run an experiment file (tasks, agents, seeds, limits)'],
  ],
  async run(context, [path], options: Options) {
    const { incomplete } = options;
    const gate = options.approve === true ? personsGate(context) : undefined;
    const read = readExperiment(path, options, context.settings.run);
    const said = keysSet(path, options);
    const source = findParent(context, options, said);
    const wanted = withGateway(
      source === null ? withModelsOf(context.variables, read) : asItsRun(read, source, said),
    );
    const chosen =
      source === null ? tasksOf(context, wanted) : chooseTasks(context, [source.spec.task], undefined);
    const isSample = options.sample === true || source?.spec.caveats.includes(sampleCaveat) === true;
    const tasks = isSample ? chosen.map(sampleOf) : chosen;
    const lessonsFor = lessonChooser(context, wanted);
    const fork = source === null ? null : await makeFork(context, source, wanted, options, tasks[0]);
    const begun = source && fork && branchOf(context, source, fork, wanted, options);
    const agents =
      source === null
        ? await chosenAgents(
            wanted,
            options,
            agentPlace(context, wanted, options.interpreter),
            tasks.map(({ environmentFolder }) => environmentFolder),
          )
        : [];
    // The settings name them, and came from a folder that nobody named.
    if (!said.has('agents'))
      for (const { agent, options: chosen } of agents)
        refuseHostFiles(
          { agent: agent.name, agent_options: chosen },
          context.settings.path ?? 'What is usual',
          options,
        );
    const planOf = (known: readonly PlannedTask[]): Plan => {
      const continuation = begun?.plan ?? fork;
      if (continuation === null) return makePlan(wanted, known, agents, context.version, lessonsFor);
      return onData(
        continuation,
        begun !== null,
        known.every(({ verified }) => verified),
      );
    };
    const planned = planOf(tasks.map((task) => ({ task, verified: true })));
    if (options.artifacts !== undefined && executorNameOf(context, planned, wanted) !== 'redis')
      throw new UserError(
        'bad_flag',
        '--artifacts works only with Redis workers.',
        'Add --on redis://…, or leave out --artifacts.',
      );
    const agentOf = (run: RunSpec) => anyAgentOfRun(run, agentPlace(context, run, options.interpreter));
    await checkApproval(planned.runs, gate !== undefined, agentOf);
    refuseKeysInPlan(planned, context.variables);
    refuseUncountedLimit(context, planned, wanted);
    const programs = new Set(agents.flatMap(({ agent: { name, program } }) => (program ? [name] : [])));
    const tooLow = [...checkMoney(planned, programs), ...checkTokens(planned, programs)];
    for (const warning of [...unpricedWarnings(planned), ...tooLow]) context.log(warning);
    if (options.dryRun) {
      const expected = await Promise.all(
        tasks.map(async (task) => ({ task, verified: await isVerified(context, task, options) })),
      );
      const plan = planOf(expected);
      tryModels(context, plan);
      const documents = await documentsElsewhere(context, plan, tasks, wanted);
      const cost = expectedCost(context, plan, incomplete === 'restart');
      const place = executorNameOf(context, plan, wanted);
      const runs = place === null ? planText(plan) : planTextElsewhere(plan, place);
      const text = cost === null ? runs : `${runs}\n${costText(cost)}`;
      return {
        text: documents === null ? text : withDocuments(text, documents),
        json: {
          ...plan,
          ...(documents === null ? {} : { documents }),
          expected_cost: cost,
        },
      };
    }
    // Reports errors in flags and keys before anything is downloaded.
    for (const each of planned.runs) await (await agentOf(each)).ready?.(each.agent_options);
    const registry = registryOf(context, planned);
    mkdirSync(context.folders.experiments, { recursive: true });
    accessSync(context.folders.experiments, constants.W_OK);
    await checkDataOf(context, tasks, options);
    if (registry !== undefined)
      await confirmCost(
        context,
        expectedCost(context, planned, incomplete === 'restart'),
        options.yes === true,
      );
    await getPrograms(context, planned, registry, agentOf);
    if (isHere(context, planned, wanted, gate))
      await trySandbox(wanted.sandbox, sandboxOptions(wanted, context.variables.MLAB_DOCKER));
    else await tryPlace(context, planned, wanted);
    const resources = new Map<string, TaskResources>();
    for (const task of tasks) resources.set(task.file.id, await provision(context, task, options));
    const plan = planOf(
      [...resources.values()].map(({ task, prepared }) => ({ task, verified: prepared.verified })),
    );
    const branch = begun?.freeze() ?? null;
    const experiment =
      begun?.experiment ?? createExperiment(join(context.folders.experiments, plan.name), plan);
    const parts = {
      ...(await gpusFor(context, plan.runs)),
      ...{ experiment, resources, incomplete, registry, agentOf },
      parentExperiment: source?.experiment.folder,
      provisioning: provisioningOf(options),
      modelsFolder: process.cwd(),
    };
    const viewer = options.view ? await viewExperiment(context, experiment) : null;
    try {
      // The frozen plan, with the current values of what may change.
      const runs = branch === null ? experiment.plan.runs : [branch.run];
      const executePlanned = (executor: RemoteExecutor | undefined, signal: AbortSignal) =>
        executePlan({ ...context, signal }, { ...plan, runs }, { ...parts, executor }, gate);
      const executed = await executeThere(context, wanted, experiment, registry, executePlanned);
      const result =
        branch === null || executed.cancelled !== null
          ? await conclude(context, experiment, executed, taskFlagsOf(context, tasks))
          : branchResult(context, experiment, branch, executed.result);
      return viewer === null ? result : withViewer(context, result, viewer);
    } catch (error) {
      viewer?.[Symbol.dispose]();
      throw error;
    }
  },
};

/** A plan can be shown without keys: what is missing is logged, and everything else that `mlab run` refuses is refused. */
function tryModels(context: Context, plan: Plan): void {
  try {
    registryOf(context, plan);
  } catch (error) {
    if (!UserError.isInstance(error) || !['key_missing', 'base_url_missing'].includes(error.code))
      throw error;
    context.log(`${error.message} ${error.hint}`);
  }
}

function tasksOf(context: Context, wanted: ExperimentFile): Task[] {
  const tasks = chooseTasks(context, wanted.tasks, wanted.suite);
  if (tasks.length > 0) return tasks;
  throw new UserError(
    'no_tasks',
    'No task is given.',
    'Name tasks with --task or --suite (mlab tasks ls lists them), for example: mlab run --suite starter',
  );
}

function personsGate(context: Context): Gate {
  return approveActions(terminalQuestions(context.isTerminal, 'leave out --approve'), personName());
}

function planText(plan: Plan): string {
  const runs = plan.runs.map(({ id, limits }) => `  ${id}  (${limitsText(limits)})`);
  return `${plan.name}: ${counted(plan.runs.length, 'run')}, ${atATime(plan)}\n${runs.join('\n')}`;
}

/** For many runs: one line for each task and agent. */
function planTextElsewhere(plan: Plan, place: string): string {
  const alike = Map.groupBy(plan.runs, ({ task, agent, agent_options: options, model, limits }) =>
    JSON.stringify([task, agent, options, model, limits]),
  );
  const lines = [...alike.values()].map((runs) => {
    const ids = runs.length < 3 ? runs.map(({ id }) => id) : [runs[0]?.id, '…', runs.at(-1)?.id];
    const limits = runs.slice(0, 1).map((run) => limitsText(run.limits));
    return `  ${ids.join(' ')}  (${[...(runs.length > 1 ? [counted(runs.length, 'run')] : []), ...limits].join(', ')})`;
  });
  return `${plan.name}: ${counted(plan.runs.length, 'run')}, executed on ${place}\n${lines.join('\n')}`;
}

function limitsText({ steps, wall_seconds: seconds }: RunSpec['limits']): string {
  return `${counted(steps, 'step')}, ${seconds} s`;
}
