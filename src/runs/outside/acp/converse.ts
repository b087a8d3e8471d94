import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClientContext,
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { ProgramEnvironment } from '../../../environment/index.ts';
import { messageOf } from '../../../lib/errors.ts';
import type { Sandbox, SandboxProcess } from '../../../sandbox/index.ts';
import { AgentFailed } from '../../agents/agent-process.ts';
import type { ProgramTurns } from '../program-turns.ts';
import { followUp } from './follow-up.ts';
import type { MessageStream } from './message-stream.ts';
import { Permissions } from './permissions.ts';
import type { SessionUpdates } from './session-updates.ts';

/** The largest of them take half a minute to start on a busy machine. */
const firstWordMs = 180_000;
/** How long an agent has to stop after it was told to. */
const cancelMs = 1_000;
const closeMs = 2_000;
const authRequired = -32000;

const Session = z.object({ sessionId: z.string().max(1_000) });
const Stopped = z.object({
  stopReason: z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']),
});

export interface AcpTalk {
  process: SandboxProcess;
  messages: MessageStream;
  updates: SessionUpdates;
  turns: ProgramTurns;
  environment: ProgramEnvironment;
  sandbox: Sandbox;
  /** Its first prompt. */
  prompt: string;
  /** Its working folder. */
  folder: string;
  /** The most prompts that it gets. */
  prompts: number;
  authMethod: string | undefined;
  /** Aborted when the run is over. */
  over: AbortSignal;
}

/** How a conversation ended. */
export type AcpEnd =
  | { kind: 'done' | 'refused'; session: string }
  | { kind: 'failed'; message: string; session: string | null };

/**
 * Leads an agent that speaks the Agent Client Protocol through its task, until it is done or the run is over. Its
 * process has ended then. The client offers it no files and no terminals, because it has its own in the sandbox.
 */
export async function converse(talk: AcpTalk): Promise<AcpEnd> {
  const { process, messages, updates, environment, over } = talk;
  const closing = new AbortController();
  void process.ended.then(({ exitCode, signal }) =>
    messages.end(`It ended by itself (${signal === null ? `exit code ${exitCode}` : `signal ${signal}`}).`),
  );
  const permissions = new Permissions(environment, updates, over);
  const connection = client({ name: 'mlab' })
    .onRequest(methods.client.session.requestPermission, asItCame, ({ params }) => permissions.answer(params))
    .connect(messages.stream(process, closing.signal));
  const { agent } = connection;
  let session: string | null = null;
  try {
    session = await begin(agent, talk);
    return { kind: await goThrough(agent, session, permissions, talk), session };
  } catch (error) {
    if (!(error instanceof AgentFailed || error instanceof RequestError) && !over.aborted) throw error;
    return { kind: 'failed', message: messageOf(error), session };
  } finally {
    connection.close();
    closing.abort();
    process.endInput();
    await Promise.race([process.ended, over.aborted ? null : sleep(closeMs, undefined, { ref: false })]);
    await process.kill();
    await messages.close();
  }
}

/** Messages are parsed by their handlers. */
const asItCame = (params: unknown) => params;

/** @returns the session's id */
async function begin(agent: ClientContext, { folder, authMethod, over }: AcpTalk): Promise<string> {
  const none = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const about = { name: 'mlab', version: '1' };
  const asked = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: none, clientInfo: about };
  await inTime('initialize', agent.request(methods.agent.initialize, asked), over);
  const open = async () => {
    const opened = agent.request<unknown>(methods.agent.session.new, { cwd: folder, mcpServers: [] });
    return parsed(Session, await inTime('session/new', opened, over), 'session/new').sessionId;
  };
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== authRequired || authMethod === undefined)
      throw error;
    await inTime('authenticate', agent.request(methods.agent.authenticate, { methodId: authMethod }), over);
    return await open();
  }
}

/** Prompts it, and prompts it again while it stops with an unfinished task but does something each time. */
async function goThrough(
  agent: ClientContext,
  session: string,
  permissions: Permissions,
  { environment, sandbox, turns, prompt, prompts, over }: AcpTalk,
): Promise<'done' | 'refused'> {
  let text = prompt;
  for (let asked = 1; ; asked += 1) {
    const before = turns.outcome.answers;
    const stopReason = await ask(agent, session, text, over);
    await turns.settle();
    if (environment.closed() !== null) return 'done';
    if (stopReason === 'refusal') return 'refused';
    const denied = permissions.takeDenied();
    const didNothing = turns.outcome.answers === before;
    if (asked >= prompts || didNothing || turns.outcome.failure !== null) return 'done';
    const next = await followUp(stopReason, denied, { environment, sandbox, signal: over });
    if (next === null || over.aborted) return 'done';
    text = next;
    environment.note({ 'Asked again': text });
  }
}

/** @throws AgentFailed once the run is over, after the agent was notified and given a moment */
async function ask(
  agent: ClientContext,
  session: string,
  text: string,
  over: AbortSignal,
): Promise<StopReason> {
  const answering = agent.request<unknown>(methods.agent.session.prompt, {
    sessionId: session,
    prompt: [{ type: 'text', text }],
  });
  const cancel = Promise.withResolvers<null>();
  const stop = async () => {
    await agent.notify(methods.agent.session.cancel, { sessionId: session }).catch(() => {});
    await sleep(cancelMs);
    cancel.resolve(null);
  };
  const onOver = () => void stop();
  over.addEventListener('abort', onOver, { once: true });
  try {
    if (over.aborted) onOver();
    const answer = await Promise.race([answering, cancel.promise]);
    if (over.aborted) throw new AgentFailed('The run was over.');
    return parsed(Stopped, answer, 'session/prompt').stopReason;
  } finally {
    over.removeEventListener('abort', onOver);
  }
}

/** @throws AgentFailed if it takes too long to answer, or the run is over */
async function inTime<Answer>(method: string, answer: Promise<Answer>, over: AbortSignal): Promise<Answer> {
  const late = AbortSignal.any([AbortSignal.timeout(firstWordMs), over]);
  const given = Promise.withResolvers<never>();
  const onLate = () =>
    given.reject(new AgentFailed(`It did not answer ${method} within ${firstWordMs / 1000} seconds.`));
  late.addEventListener('abort', onLate, { once: true });
  try {
    if (late.aborted) onLate();
    return await Promise.race([answer, given.promise]);
  } finally {
    late.removeEventListener('abort', onLate);
  }
}

/** @throws AgentFailed */
function parsed<Shape extends z.ZodType>(shape: Shape, value: unknown, method: string): z.infer<Shape> {
  const read = shape.safeParse(value);
  if (read.success) return read.data;
  throw new AgentFailed(
    `Its answer to ${method} is none: ${z.prettifyError(read.error).replaceAll('\n', ' ')}`,
  );
}
