import { join } from 'node:path';
import { loadMcp, mcp as mcpAgent, type Served, type TaskServer } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import { makePlan, runExperiment } from '../../runs/index.ts';
import { sandboxOptions, trySandbox } from '../../sandbox/index.ts';
import type { Action, RunSpec } from '../../schema/index.ts';
import { createExperiment, type Experiment, readTraceSync, resolveText, stepsOf } from '../../store/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { experimentFlags, readExperiment } from '../experiment-flags.ts';
import { portNumber } from '../flag-numbers.ts';
import { gpusFor } from '../gpus-of-run.ts';
import { logProgress } from '../log-events.ts';
import { lineView } from '../progress.ts';
import { plain } from '../table.ts';
import {
  chooseTasks,
  prepareFlags,
  provision,
  provisioningOf,
  type ResourceFlags,
} from '../task-resources.ts';
import type { Verb } from '../verb.ts';

interface Options extends ResourceFlags {
  http?: number;
}

/** The flags of `mlab run` that make sense for one run whose steps an MCP client takes. */
const shared = /^--(name|task|sandbox|docker-image|gpu|grade|clock|steps|.*-seconds|.*-mb|processes) ?/;

export const mcp: Verb = {
  arguments: [],
  flags: [
    ...experimentFlags().filter(({ flags }) => shared.test(flags)),
    {
      flags: '--http <port>',
      description:
        'serve streamable HTTP on this port of 127.0.0.1 (0: any free port); default: standard input and output',
      parse: portNumber,
    },
    ...prepareFlags,
  ],
  details:
    'Each tool call of the client becomes a step of a run: it runs in the sandbox and is recorded in the trace. Final_Answer or\n' +
    'a limit ends the run, which is then graded. If the client disconnects before that, the same command resumes the run.',
  negative: 'the run could not be finished or graded',
  examples: [
    [
      'mlab mcp --task digits --name by-hand',
      'the command for an MCP client that uses standard input and output',
    ],
    ['mlab mcp --task digits --http 8765', 'prints the address that clients connect to'],
  ],
  async run(context, _, options: Options) {
    const wanted = {
      ...readExperiment(undefined, options, context.settings.run),
      agents: [mcpAgent.name],
      seeds: 1,
    };
    const [task, ...others] = chooseTasks(context, wanted.tasks, undefined);
    if (task === undefined || others.length > 0)
      throw new UserError(
        'usage',
        'mlab mcp serves one task.',
        'Name one task with --task; mlab tasks ls lists them.',
      );
    await trySandbox(wanted.sandbox, sandboxOptions(wanted, context.variables.MLAB_DOCKER));
    const resources = await provision(context, task, options);
    const planned = { task, verified: resources.prepared.verified };
    const plan = makePlan(wanted, [planned], [{ agent: mcpAgent, options: {} }], context.version);
    const experiment = createExperiment(join(context.folders.experiments, plan.name), plan);
    const { TaskServer } = await loadMcp();
    const server = new TaskServer(context.version);
    await using served = await open(context, server, options.http);
    const left = new AbortController();
    let hasEnded = false;
    void served.closed.then(() => {
      // A run that has ended is graded, even if the client has left.
      if (!hasEnded && !server.isOver) left.abort();
    });
    const view = lineView(context);
    const log = logProgress(context.logger);
    const [result] = await runExperiment(experiment.plan, {
      ...{ experiment, resources: new Map([[task.file.id, resources]]), incomplete: 'continue' },
      ...(await gpusFor(context, plan.runs)),
      provisioning: provisioningOf(options),
      agentOf: async (run) => server.agent(stepsTaken(experiment, run)),
      helpersFolder: context.folders.helpers,
      dockerCommand: context.variables.MLAB_DOCKER,
      versions: { mlab: context.version, node: process.version },
      signal: AbortSignal.any([context.signal, left.signal]),
      onProgress: (progress) => {
        hasEnded ||= progress.kind === 'run_ended';
        view.show(progress);
        log(progress);
      },
    });
    await server.finish();
    const problem = result?.problem ?? null;
    const outcome = problem === null ? 'finished and graded' : `${plain(problem)}; the same command resumes`;
    const run = `${plan.name}/${result?.spec.id}`;
    const text = `${run}: ${outcome}. ${context.command} runs show ${run}${context.placeFlags}`;
    // Standard output belongs to the client.
    if (options.http === undefined) context.log(text);
    return {
      text: options.http === undefined ? '' : text,
      json: { experiment: plan.name, run: result?.spec.id, problem },
      exitCode: context.signal.aborted
        ? exitCodes.interrupted
        : problem === null
          ? exitCodes.ok
          : exitCodes.negative,
    };
  },
};

async function open(context: Context, server: TaskServer, port: number | undefined): Promise<Served> {
  const { serveByHttp, serveOnStandardStreams } = await loadMcp();
  if (port === undefined) return serveOnStandardStreams(server.factory);
  const served = await serveByHttp(server.factory, port);
  context.log(`Serving MCP at ${served.url}`);
  return served;
}

/** What earlier sessions of the run did, from its trace. */
function stepsTaken(experiment: Experiment, { id }: RunSpec): Action[] {
  const folder = experiment.runFolder(id);
  if (folder.readRecord() === null) return [];
  const { events } = readTraceSync(folder.tracePath);
  return stepsOf(events).map(({ started: { action, args } }) => ({
    name: action,
    args: JSON.parse(resolveText(folder.objects, args)),
  }));
}
