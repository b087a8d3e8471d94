import { join } from 'node:path';
import type { Gate } from '../../environment/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { ModelRegistry } from '../../models/index.ts';
import type { RemoteExecutor, TaskResources } from '../../runs/index.ts';
import { sandboxOptions, trySandbox } from '../../sandbox/index.ts';
import type { Plan } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import { agentFlags } from '../agent-options.ts';
import { approveActions } from '../approve-actions.ts';
import { personName } from '../begin-branch.ts';
import { branchResult } from '../branch-result.ts';
import { checkApproval } from '../check-approval.ts';
import { checkMoney } from '../check-money.ts';
import { checkTokens } from '../check-tokens.ts';
import type { Context, VerbResult } from '../context.ts';
import { conclude, executePlan, getPrograms } from '../execute-plan.ts';
import {
  documentsElsewhere,
  executeThere,
  executorNameOf,
  isHere,
  refuseUncountedLimit,
  tryPlace,
  withDocuments,
} from '../execute-there.ts';
import { confirmCost, costText, expectedCost, unpricedWarnings } from '../expected-cost.ts';
import { experimentFlags } from '../experiment-flags.ts';
import { makeExperimentsFolder } from '../experiments-folder.ts';
import { forkFlags } from '../fork-flags.ts';
import { gpusFor } from '../gpus-of-run.ts';
import { refuseKeysInPlan } from '../keys-in-plan.ts';
import { registryOf } from '../model-registry.ts';
import { planText, planTextElsewhere } from '../plan-text.ts';
import { type RequestFlags, type RunRequest, readRequest } from '../run-request.ts';
import { taskFlagsOf } from '../task-flags.ts';
import { checkDataOf, isVerified, prepareFlags, provision, provisioningOf } from '../task-resources.ts';
import { terminalQuestions } from '../terminal-questions.ts';
import type { Verb } from '../verb.ts';
import { viewExperiment, withViewer } from '../view-experiment.ts';

interface Options extends RequestFlags {
  artifacts?: string;
  model?: string[];
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
    const gate = options.approve === true ? personsGate(context) : undefined;
    const request = await readRequest(context, path, options);
    const planned = request.planOf(request.tasks.map((task) => ({ task, verified: true })));
    await refuseOrWarn(context, request, planned, gate, options);
    if (options.dryRun) return await showPlan(context, request, options);
    const registry = await tryBeforeSetUp(context, request, planned, gate, options);
    const resources = new Map<string, TaskResources>();
    for (const task of request.tasks) resources.set(task.file.id, await provision(context, task, options));
    return await execute(context, request, { resources, registry, gate }, options);
  },
};

function personsGate(context: Context): Gate {
  return approveActions(terminalQuestions(context.isTerminal, 'leave out --approve'), personName());
}

/** What a plan shows of itself, before anything else is looked at. */
async function refuseOrWarn(
  context: Context,
  { wanted, agents, agentOf }: RunRequest,
  planned: Plan,
  gate: Gate | undefined,
  { artifacts, model = [] }: Options,
): Promise<void> {
  if (artifacts !== undefined && executorNameOf(context, planned, wanted) !== 'redis')
    throw new UserError(
      'bad_flag',
      '--artifacts works only with Redis workers.',
      'Add --on redis://…, or leave out --artifacts.',
    );
  if (model.length > 0 && planned.runs.every((run) => run.model === null))
    context.log(`No run uses a language model: --model ${model.join(',')} has no effect.`);
  await checkApproval(planned.runs, gate !== undefined, agentOf);
  refuseKeysInPlan(planned, context.variables);
  refuseUncountedLimit(context, planned, wanted);
  const programs = new Set(agents.flatMap(({ agent: { name, program } }) => (program ? [name] : [])));
  const tooLow = [...checkMoney(planned, programs), ...checkTokens(planned, programs)];
  for (const warning of [...unpricedWarnings(planned), ...tooLow]) context.log(warning);
}

async function showPlan(
  context: Context,
  { wanted, tasks, planOf }: RunRequest,
  options: Options,
): Promise<VerbResult> {
  const known = tasks.map(async (task) => ({ task, verified: await isVerified(context, task, options) }));
  const plan = planOf(await Promise.all(known));
  tryModels(context, plan);
  const documents = await documentsElsewhere(context, plan, tasks, wanted);
  const cost = expectedCost(context, plan, options.incomplete === 'restart');
  const place = executorNameOf(context, plan, wanted);
  const runs = place === null ? planText(plan) : planTextElsewhere(plan, place);
  const text = cost === null ? runs : `${runs}\n${costText(cost)}`;
  return {
    text: documents === null ? text : withDocuments(text, documents),
    json: { ...plan, ...(documents === null ? {} : { documents }), expected_cost: cost },
  };
}

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

/** Reports what would fail later, and asks what has to be asked, before data and packages are downloaded. */
async function tryBeforeSetUp(
  context: Context,
  { wanted, tasks, agentOf }: RunRequest,
  planned: Plan,
  gate: Gate | undefined,
  options: Options,
): Promise<ModelRegistry | undefined> {
  for (const run of planned.runs) await (await agentOf(run)).ready?.(run.agent_options);
  const registry = registryOf(context, planned);
  makeExperimentsFolder(context.folders.experiments);
  await checkDataOf(context, tasks, options);
  if (registry !== undefined) {
    const cost = expectedCost(context, planned, options.incomplete === 'restart');
    await confirmCost(context, cost, options.yes === true);
  }
  await getPrograms(context, planned, registry, agentOf);
  if (isHere(context, planned, wanted, gate))
    await trySandbox(wanted.sandbox, sandboxOptions(wanted, context.variables.MLAB_DOCKER));
  else await tryPlace(context, planned, wanted);
  return registry;
}

interface Readied {
  resources: Map<string, TaskResources>;
  registry: ModelRegistry | undefined;
  gate: Gate | undefined;
}

async function execute(
  context: Context,
  request: RunRequest,
  { resources, registry, gate }: Readied,
  options: Options,
): Promise<VerbResult> {
  const { wanted, tasks, source, branch: begun, agentOf } = request;
  const known = [...resources.values()].map(({ task, prepared }) => ({ task, verified: prepared.verified }));
  const plan = request.planOf(known);
  const branch = begun?.freeze() ?? null;
  const experiment =
    begun?.experiment ?? createExperiment(join(context.folders.experiments, plan.name), plan);
  const parts = {
    ...(await gpusFor(context, plan.runs)),
    ...{ experiment, resources, incomplete: options.incomplete, registry, agentOf },
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
}
