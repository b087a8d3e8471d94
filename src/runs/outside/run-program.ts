import { randomBytes } from 'node:crypto';
import {
  type AcpStart,
  continuePrompt,
  maxPrompts,
  type Program,
  type ProgramSession,
  speaksAcp,
} from '../../agents/index.ts';
import {
  briefInside,
  type Ending,
  ExperimentQuotaUsed,
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
import { type AgentClaims, programOutput, type RunSpec } from '../../schema/index.ts';
import type { RunFolder } from '../../store/index.ts';
import { SessionSaver, savedSession } from './agent-session.ts';
import { ClaimsReader } from './claims.ts';
import { howItEnded, overLimit, type ProgramEnd } from './how-it-ended.ts';
import type { ProgramSetting } from './program-setting.ts';
import { ProgramTurns } from './program-turns.ts';
import { Tail } from './tail.ts';

/** Everything that is needed to run a program. */
export interface ProgramRun {
  program: Program;
  spec: RunSpec;
  folder: RunFolder;
  setting: ProgramSetting;
  sandbox: Sandbox;
  /** The task's starter script. */
  entry: string;
  environment: ProgramEnvironment;
  upstream: Upstream;
  quota: Quota;
  shared: SharedQuota | null;
  /** Called at the end with what the program reported about itself; null: nothing. */
  onClaims: (claims: AgentClaims | null) => void;
}

/** The size of the end of its output that is kept. */
const maxOutputBytes = 2 ** 16;

/**
 * Runs a program in the run's sandbox until the program or the run ends, with its models behind a separate gateway.
 * @returns how the run ended if no limit ended it
 * @throws what the harness could not do, including a model that does not answer
 */
export async function runProgram(run: ProgramRun): Promise<Ending> {
  const { environment, setting, upstream, quota, shared, sandbox } = run;
  const token = randomBytes(24).toString('hex');
  const acp = speaksAcp(run.program, run.spec.agent_options) ? await openAcp() : null;
  const session = acp === null ? await openSession(run) : null;
  await using saver = session?.saver;
  const turns = new ProgramTurns(run.program, environment, acp, upstream);
  const printed = acp?.printed ?? new Tail(maxOutputBytes);
  const claims = acp ?? new ClaimsReader(run.program);
  let end: ProgramEnd | null = null;
  await environment.during(async (over) => {
    await using gateway = await ProxyServer.listen(setting.listenAt, {
      ...{ upstream, quota, shared, token, signal: over },
      onRequest: (request) => turns.requested(request),
      onWait: (until) => turns.waits(until),
      onSent: (until) => turns.sent(until),
      onRefused: (refused) => refuse(refused, environment),
      onEnd: (request) => turns.ended(request),
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
        // A program that speaks a protocol is notified before it is killed.
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
  const text = upstream.withoutKeys(printed.text);
  if (text.trim() !== '') environment.note({ [programOutput]: text });
  run.onClaims(claims.claims);
  return howItEnded(end, turns.outcome, text, upstream.names.length > 0);
}

/** Loads the protocol's library only when it is needed. */
async function openAcp() {
  const { AcpDriver } = await import('./acp/driver.ts');
  return new AcpDriver(maxOutputBytes);
}

/** The program's session, if it has one: how to save it, and the session that it continues. */
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

/** Its prompt, and the most prompts that it gets. */
function asked({ setting, sandbox, spec }: ProgramRun) {
  const prompts = maxPrompts(spec.agent_options);
  return { prompt: setting.prompt, folder: sandbox.pathInside(workspaceInside), prompts };
}

/** Sends the starter what it needs. If the program speaks a protocol, it reads the rest of the input itself. */
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
  const [model = ''] = upstream.names;
  const spoken = model === '' ? program.dialects : upstream.dialects;
  const dialect = spoken.find((one) => program.dialects.includes(one));
  const isAcp = speaksAcp(program, spec.agent_options);
  const continued = session === null || session.told.saved === null ? null : session.program;
  const start = isAcp ? program.acp : (continued ?? program).start;
  if (dialect === undefined || start === undefined)
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
  if (refused.quota === 'shared') environment.fail(new ExperimentQuotaUsed(refused.message));
  else environment.close(overLimit(refused));
}
