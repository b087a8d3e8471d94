import { randomBytes } from 'node:crypto';
import {
  type AcpStart,
  continuePrompt,
  mostPrompts,
  type Program,
  type ProgramSession,
  speaksAcp,
} from '../../agents/index.ts';
import {
  briefInside,
  type Ending,
  ExperimentSpent,
  helpersInside,
  type ProgramEnvironment,
  workspaceInside,
} from '../../environment/index.ts';
import {
  type OverQuota,
  ProxyServer,
  type Quota,
  type SharedQuota,
  type Upstream,
} from '../../models/index.ts';
import type { Sandbox, SandboxProcess } from '../../sandbox/index.ts';
import type { AgentClaims, RunSpec } from '../../schema/index.ts';
import type { RunFolder } from '../../store/index.ts';
import { SessionSaver, savedSession } from './agent-session.ts';
import { ClaimsReader } from './claims.ts';
import { howItEnded, overLimit, type ProgramEnd } from './how-it-ended.ts';
import type { ProgramSetting } from './program-setting.ts';
import { ProgramTurns } from './program-turns.ts';
import { Tail } from './tail.ts';

/** All that a program is run with. */
export interface ProgramRun {
  program: Program;
  spec: RunSpec;
  folder: RunFolder;
  setting: ProgramSetting;
  sandbox: Sandbox;
  /** The script that the task begins with. */
  entry: string;
  environment: ProgramEnvironment;
  upstream: Upstream;
  quota: Quota;
  shared: SharedQuota | null;
  /** Told at the end what the program says of itself; null: nothing. */
  onClaims: (claims: AgentClaims | null) => void;
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
  const acp = speaksAcp(run.program, run.spec.agent_options) ? await openAcp() : null;
  const session = acp === null ? await openSession(run) : null;
  await using saver = session?.saver;
  const turns = new ProgramTurns(run.program, environment, acp);
  const printed = acp?.printed ?? new Tail(mostOutputBytes);
  const claims = acp ?? new ClaimsReader(run.program);
  let end: ProgramEnd | null = null;
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
        onOutput: (chunk) => {
          claims.add(chunk);
          if (acp === null) printed.add(chunk);
        },
        timeoutMs: null,
        // Who speaks a protocol is told, before it is ended.
        signal: acp === null ? over : null,
      },
    );
    turns.watch(process);
    if (saver !== undefined)
      turns.saveSession = () => saver.save(environment.stepsTaken, () => process.write('save\n'), over);
    const { authMethod } = begin(process, run, setting.gateway(gateway.port), token, session);
    end =
      acp === null
        ? { process: await process.ended, said: null }
        : await acp.lead({ ...{ process, turns, environment, sandbox, over, authMethod }, ...asked(run) });
  });
  await turns.finish();
  const text = printed.text;
  if (text.trim() !== '') environment.note({ 'Program output': text });
  run.onClaims(claims.claims);
  return howItEnded(end, turns.outcome, text);
}

/** Its library is loaded when it is wanted. */
async function openAcp() {
  const { AcpDriver } = await import('./acp/driver.ts');
  return new AcpDriver(mostOutputBytes);
}

/** The program's session, where it has one: how it is saved, and with what it continues. */
interface OpenSession {
  program: ProgramSession;
  told: Awaited<ReturnType<ProgramSetting['session']>>;
  saver: SessionSaver;
}

async function openSession(run: ProgramRun): Promise<OpenSession | null> {
  const { program, folder, setting, sandbox, environment } = run;
  if (program.session === undefined) return null;
  const step = environment.stepsTaken;
  const saved = savedSession(folder, step);
  if (saved !== null)
    environment.note({ Continued: `By the program's own session, as it was after step ${step}.` });
  const told = await setting.session(sandbox, program.session.keep, saved);
  return { program: program.session, told, saver: await SessionSaver.listen(setting.sessionSocket, folder) };
}

/** What it is asked, and how often at most. */
function asked({ setting, sandbox, spec }: ProgramRun) {
  const prompts = mostPrompts(spec.agent_options);
  return { prompt: setting.prompt, folder: sandbox.pathInside(workspaceInside), prompts };
}

/** Tells what starts a program what it needs; where the program speaks a protocol, the rest of its input is the program's. */
function begin(
  process: SandboxProcess,
  run: ProgramRun,
  gateway: string,
  token: string,
  session: OpenSession | null,
): AcpStart {
  const { program, spec, setting, sandbox, upstream, entry } = run;
  const home = setting.home;
  const brief = setting.brief(sandbox);
  const workspace = sandbox.pathInside(workspaceInside);
  const dialect = upstream.dialects.find((one) => program.dialects.includes(one));
  const [model] = upstream.names;
  const isAcp = speaksAcp(program, spec.agent_options);
  const continued = session === null || session.told.saved === null ? null : session.program;
  const start = isAcp ? program.acp : (continued ?? program).start;
  if (dialect === undefined || model === undefined || start === undefined)
    throw new Error('the program can not speak to this model');
  const started = start({
    ...setting.bundle(sandbox),
    hostFile: (name) => setting.hostFile(sandbox, name),
    ...{ gateway, token, dialect, model, brief, workspace, entry, home, options: spec.agent_options },
    prompt: continued === null ? setting.prompt : continuePrompt,
  });
  const { argv, variables, files } = started;
  const helpers = sandbox.pathInside(helpersInside);
  const told = {
    ...{ argv, files, home, folder: workspace, bridge: setting.bridge(sandbox), speaks: isAcp },
    session: session?.told ?? null,
    path: `${helpers}/outside/bin`,
    variables: {
      HOME: home,
      MLAB_WORKSPACE: workspace,
      MLAB_TASK: sandbox.pathInside(briefInside),
      MLAB_BRIEF: brief,
      ...variables,
    },
  };
  process.write(`${JSON.stringify(told)}\n`);
  if (!isAcp && session === null) process.endInput();
  return started;
}

function refuse(refused: OverQuota, environment: ProgramEnvironment): void {
  if (refused.quota === 'shared') environment.fail(new ExperimentSpent(refused.message));
  else environment.close(overLimit(refused));
}
