import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { type CallToolResult, type McpServerFactory, Server, type Tool } from '@modelcontextprotocol/server';
import type { Environment, StepResult } from '../../environment/index.ts';
import type { Action } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { budgetText } from '../common/budget-text.ts';
import { taskText } from '../common/task-text.ts';
import { Toolbox } from '../common/toolbox.ts';
import { mcp } from './mcp.ts';

/** Clients give up a call after a minute. */
const longestWaitMs = 45_000;
const readTask = 'Read_Task';
/** The action was not executed: a client should see that its request was wrong. */
const refusals: ReadonlySet<string> = new Set(['invalid', 'refused', 'closed', 'error']);

/** One run's actions as tools of the Model Context Protocol: each call of a client is a step. */
export class TaskServer {
  readonly #begun = Promise.withResolvers<Environment>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #graded = Promise.withResolvers<void>();
  readonly #calls = new Set<Promise<unknown>>();
  #isOver = false;
  readonly #version: string;

  constructor(version: string) {
    this.#version = version;
  }

  /**
   * The agent of the run. It ends when a step has ended the run.
   * @param recorded the steps of earlier sessions: they are taken again, and answered from the trace
   */
  agent(recorded: readonly Action[]): Agent {
    return {
      ...mcp,
      run: async ({ environment }) => {
        for (const action of recorded) this.#note(await environment.step(action));
        this.#begun.resolve(environment);
        await this.#ended.promise;
      },
    };
  }

  /** Whether a step has ended the run. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Called when the run is graded. Resolves when clients that waited for that have the answer. */
  async finish(): Promise<void> {
    this.#graded.resolve();
    await Promise.allSettled(this.#calls);
    await setImmediate();
  }

  /** Creates one server for each connection; all of them control the same run. */
  readonly factory: McpServerFactory = async () => {
    const environment = await this.#begun.promise;
    const toolbox = new Toolbox(environment.actions);
    const server = new Server(
      { name: 'mlab', version: this.#version },
      { capabilities: { tools: {} }, instructions: taskText(environment.task) },
    );
    server.setRequestHandler('tools/list', () => ({ tools: toolsOf(toolbox) }));
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }) => {
      if (name === readTask) return taskResult(environment);
      const answer = this.#step(environment, toolbox, name, input);
      this.#calls.add(answer);
      return await answer.finally(() => this.#calls.delete(answer));
    });
    return server;
  };

  async #step(
    environment: Environment,
    toolbox: Toolbox,
    name: string,
    input: Record<string, unknown>,
  ): Promise<CallToolResult> {
    const action = { name: toolbox.actionNamed(name), args: input };
    const result = await environment.step(action);
    this.#note(result);
    // Clients end their servers as soon as they have the last answer, so the run is graded before that.
    if (result.ended) await Promise.race([this.#graded.promise, delay(longestWaitMs, null, { ref: false })]);
    return {
      content: [
        { type: 'text', text: result.observation },
        { type: 'text', text: stateText(result) },
      ],
      isError: refusals.has(result.status),
    };
  }

  #note({ ended }: StepResult): void {
    if (!ended) return;
    this.#isOver = true;
    this.#ended.resolve();
  }
}

function toolsOf({ tools }: Toolbox): Tool[] {
  return [
    {
      name: readTask,
      description: 'The task: what to do, what to submit, and the limits. It costs no step.',
      inputSchema: { type: 'object' },
    },
    ...tools.map(({ name, description, input_schema: schema }) => ({
      ...{ name, description },
      inputSchema: { ...schema, type: 'object' as const },
    })),
  ];
}

function taskResult({ task, budget }: Environment): CallToolResult {
  const text = `${taskText(task)}\n- In all: ${budgetText(budget)}. Final_Answer ends the run, which is then graded.`;
  return { content: [{ type: 'text', text }] };
}

function stateText({ step, status, budget, submission, ended }: StepResult): string {
  const files = submission.present
    ? `the submission is there${submission.stale ? ', and older than the last script' : ''}`
    : 'there is no submission yet';
  return ended
    ? `[Step ${step}: ${status}. The run is over.]`
    : `[Step ${step}: ${status}. Left: ${budgetText(budget)}; ${files}.]`;
}
