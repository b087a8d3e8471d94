import { z } from 'zod';
import { type Branch, type Environment, ModelNotDeclared, type StepResult } from '../../environment/index.ts';
import { plainLine } from '../../lib/plain-line.ts';
import { AgentCall, AgentNotification, type ModelRequest, type RpcRequest } from '../../schema/index.ts';
import { AgentFailed, type AgentRequests, type RpcAnswer } from './agent-process.ts';

/** JSON-RPC error codes. */
const invalidRequest = -32600;
const unknownMethod = -32601;
const invalidParams = -32602;

/** Serves the requests of an agent's process in a run's environment. */
export class EnvironmentConversation implements AgentRequests {
  readonly #environment: Environment;
  readonly #branches: Map<string, Branch>;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#branches = new Map([[environment.id, environment]]);
  }

  async answer(requests: readonly RpcRequest[]): Promise<readonly RpcAnswer[]> {
    return await Promise.all(requests.map((request) => this.#answer(request)));
  }

  notified(method: string, params: unknown): void {
    const read = AgentNotification.safeParse({ method, params });
    // It expects no answer that could report the error.
    if (!read.success) throw new AgentFailed(`Its ${method} can't be read: ${problemsOf(read.error)}`);
    const notification = read.data;
    switch (notification.method) {
      case 'note':
        this.#environment.note(notification.params.entries);
        break;
      case 'give_up':
        this.#environment.giveUp(notification.params.reason, notification.params.message);
        break;
      case 'select': {
        const branch = this.#branches.get(notification.params.branch);
        if (branch === undefined)
          throw new AgentFailed(
            `It selected ${plainLine(notification.params.branch, 100)}: there is no such branch.`,
          );
        this.#environment.select(branch);
      }
    }
  }

  async #answer({ method, params }: RpcRequest): Promise<RpcAnswer> {
    const read = AgentCall.safeParse({ method, params });
    if (!read.success) {
      const isKnown = AgentCall.options.some((option) => option.shape.method.value === method);
      return isKnown
        ? { error: { code: invalidParams, message: problemsOf(read.error) } }
        : { error: { code: unknownMethod, message: `there is no method ${plainLine(method, 100)}` } };
    }
    const call = read.data;
    if (call.method === 'ask') return await this.#ask(call.params);
    const branch = this.#branches.get(call.params.branch);
    if (branch === undefined)
      return {
        error: { code: invalidParams, message: `there is no branch ${plainLine(call.params.branch, 100)}` },
      };
    if (call.method === 'step') return { result: stepFields(await branch.step(call.params.action)) };
    return await this.#fork(branch, call.params.at);
  }

  async #ask(request: ModelRequest): Promise<RpcAnswer> {
    try {
      return { result: await this.#environment.ask(request) };
    } catch (error) {
      if (error instanceof ModelNotDeclared)
        return { error: { code: invalidRequest, message: error.message } };
      throw error;
    }
  }

  async #fork(branch: Branch, at: number | undefined): Promise<RpcAnswer> {
    try {
      const begun = await branch.fork(at);
      this.#branches.set(begun.id, begun);
      return { result: { id: begun.id, origin: begun.origin } };
    } catch (error) {
      if (error instanceof RangeError) return { error: { code: invalidParams, message: error.message } };
      throw error;
    }
  }
}

function stepFields({ exitCode, durationMs, ...result }: StepResult) {
  return { ...result, exit_code: exitCode, duration_ms: durationMs };
}

function problemsOf(error: z.ZodError): string {
  return z.prettifyError(error).replaceAll('\n', ' ');
}
