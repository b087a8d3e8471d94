import { randomBytes } from 'node:crypto';
import type { Program } from '../../agents/index.ts';
import {
  briefInside,
  type Ending,
  ExperimentSpent,
  helpersInside,
  type ProgramEnvironment,
  workspaceInside,
} from '../../environment/index.ts';
import { type OverQuota, ProxyServer, type Quota, type Upstream } from '../../models/index.ts';
import type { ProcessEnd, Sandbox, SandboxProcess } from '../../sandbox/index.ts';
import type { RunSpec } from '../../schema/index.ts';
import { howItEnded } from './how-it-ended.ts';
import type { ProgramSetting } from './program-setting.ts';
import { ProgramTurns } from './program-turns.ts';

/** All that a program is run with. */
export interface ProgramRun {
  program: Program;
  spec: RunSpec;
  setting: ProgramSetting;
  sandbox: Sandbox;
  /** The script that the task begins with. */
  entry: string;
  environment: ProgramEnvironment;
  upstream: Upstream;
  quota: Quota;
  shared: Quota | null;
}

/** As much of what it printed last as is kept. */
const mostOutputBytes = 2 ** 16;

/**
 * Runs a program in the run's sandbox until it ends or the run does, with its models behind a gateway of its own.
 * @returns how the run ended where no limit ended it
 * @throws what the harness could not do, a model that does not answer included
 */
export async function runProgram(run: ProgramRun): Promise<Ending> {
  const { environment, setting, upstream, quota, shared, sandbox } = run;
  const token = randomBytes(24).toString('hex');
  const turns = new ProgramTurns(run.program, environment);
  const printed = new Tail(mostOutputBytes);
  let end: ProcessEnd | null = null;
  await environment.during(async (over) => {
    await using gateway = await ProxyServer.listen(setting.listenAt, {
      ...{ upstream, quota, shared, token, signal: over },
      onRequest: (request) => turns.requested(request),
      onRefused: (refused, request) => {
        turns.refused(request);
        refuse(refused, environment);
      },
      record: (call, request) => turns.answered(call, request),
    });
    const process = await sandbox.start(
      ['python', '-I', `${sandbox.pathInside(helpersInside)}/outside/start.py`],
      {
        stdin: 'pipe',
        onOutput: (chunk) => printed.add(chunk),
        timeoutMs: null,
        signal: over,
      },
    );
    turns.watch(process);
    begin(process, run, setting.gateway(gateway.port), token);
    end = await process.ended;
  });
  await turns.finish();
  const text = printed.text;
  if (text.trim() !== '') environment.note({ 'Program output': text });
  return howItEnded(end, turns.outcome, text);
}

function begin(process: SandboxProcess, run: ProgramRun, gateway: string, token: string): void {
  const { program, spec, setting, sandbox, upstream, entry } = run;
  const home = setting.home;
  const brief = setting.brief(sandbox);
  const workspace = sandbox.pathInside(workspaceInside);
  const dialect = program.dialects.find((one) => upstream.dialects.includes(one));
  const [model] = upstream.names;
  if (dialect === undefined || model === undefined)
    throw new Error('the program can not speak to this model');
  const { argv, variables, files } = program.start({
    ...setting.bundle(sandbox),
    ...{ gateway, token, dialect, model, brief, workspace, entry, home, options: spec.agent_options },
    prompt: setting.prompt,
  });
  const helpers = sandbox.pathInside(helpersInside);
  process.write(
    JSON.stringify({
      ...{ argv, files, home, folder: workspace, bridge: setting.bridge(sandbox) },
      path: `${helpers}/outside/bin`,
      variables: {
        HOME: home,
        MLAB_WORKSPACE: workspace,
        MLAB_TASK: sandbox.pathInside(briefInside),
        MLAB_BRIEF: brief,
        ...variables,
      },
    }),
  );
  process.endInput();
}

function refuse({ quota, exceeded, message }: OverQuota, environment: ProgramEnvironment): void {
  if (quota === 'shared') environment.fail(new ExperimentSpent(message));
  else
    environment.close({
      reason: exceeded === 'tokens' ? 'token_limit' : 'money_limit',
      message,
      finalAnswer: null,
    });
}

/** The end of what is printed. */
class Tail {
  readonly #most: number;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-this.#most);
  }

  get text(): string {
    return this.#bytes.toString('utf8').toWellFormed();
  }
}
