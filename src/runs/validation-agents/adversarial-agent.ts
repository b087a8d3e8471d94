import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, AgentContext } from '../../agents/index.ts';
import type { StepResult } from '../../environment/index.ts';
import type { Limits } from '../../schema/index.ts';
import type { TaskResources } from '../workspace.ts';
import { AttemptLog, type ValidationAttempt } from './attempts.ts';
import type { EndedRun, Probe, Staged, ValidatedRun, ValidationAgent } from './validation-agent.ts';

/** The tools of an adversarial agent: a run's actions, its own scripts, and the log of its attempts. */
export class AdversarialActions {
  readonly log: AttemptLog;
  readonly #context: AgentContext;
  readonly #scriptsFolder: string;

  constructor(context: AgentContext, log: AttemptLog, helpersFolder: string) {
    this.#context = context;
    this.log = log;
    this.#scriptsFolder = join(helpersFolder, 'validation-agents');
  }

  act(name: string, args: Record<string, unknown>): Promise<StepResult> {
    return this.#context.environment.step({ name, args });
  }

  /** Puts a script into the workspace, with its imports and settings. */
  async bring(script: string, settings: object): Promise<void> {
    await this.write('cheat.json', JSON.stringify(settings));
    for (const file of ['attempts.py', script]) await this.write(file, this.source(file));
  }

  write(path: string, content: string): Promise<StepResult> {
    return this.act('Write File', { file_name: path, content });
  }

  /** The text of a file in `python/validation-agents`. */
  source(file: string): string {
    return readFileSync(join(this.#scriptsFolder, file), 'utf8');
  }

  async execute(script: string): Promise<StepResult> {
    return this.#heard(await this.act('Execute Script', { script_name: script }));
  }

  async command(command: string): Promise<StepResult> {
    return this.#heard(await this.act('Run Command', { command }));
  }

  /**
   * A command whose script may be ended before it can report: then the end of its step says what stopped it.
   * @param verdict null if nothing ended it: an attempt that did not report then counts as not made
   */
  async doomedCommand(command: string, verdict: (result: StepResult) => string | null): Promise<StepResult> {
    const result = await this.act('Run Command', { command });
    const because = verdict(result);
    for (const what of this.log.readOutput(result.observation)) {
      if (because !== null) this.log.add({ what, how: command, outcome: 'stopped', because });
    }
    return result;
  }

  /** Attempts something by an action of the harness. `verdict` interprets its answer. */
  async attempt(
    what: string,
    [action, args]: [action: string, args: Record<string, unknown>],
    verdict: (result: StepResult) => Pick<ValidationAttempt, 'outcome' | 'because'>,
  ): Promise<StepResult> {
    const result = await this.act(action, args);
    this.log.add({ what, how: `${action} ${JSON.stringify(args).slice(0, 120)}`, ...verdict(result) });
    return result;
  }

  /** Leaves a submission that only a manipulated grader would accept. */
  async submitNonsense(): Promise<void> {
    for (const file of this.#context.environment.task.submission.files) {
      const text =
        file.format === 'python'
          ? file.defines.map((name) => `def ${name}(*_, **__):\n    return None\n`).join('\n')
          : 'score: 1\n';
      await this.write(file.path, text);
    }
  }

  finish(): Promise<StepResult> {
    return this.act('Final Answer', { final_answer: 'I cheated as well as I could.' });
  }

  #heard(result: StepResult): StepResult {
    this.log.readOutput(result.observation);
    return result;
  }
}

/** Stopped, unless the action was performed and its answer shows something forbidden. */
export function stoppedUnless(
  shows: (result: StepResult) => boolean,
): (result: StepResult) => Pick<ValidationAttempt, 'outcome' | 'because'> {
  return (result) => {
    const because = `${result.status}: ${firstLine(result.observation)}`;
    if (shows(result)) return { outcome: 'got_through', because };
    return { outcome: result.status === 'ok' ? 'judged' : 'stopped', because };
  };
}

export function firstLine(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line.length <= 160 ? line : `${line.slice(0, 159)}…`;
}

export interface AdversarialAgent {
  name: string;
  summary: string;
  limits?: Partial<Limits>;
  graded?: 'final' | 'all';
  fits?: (resources: TaskResources) => boolean;
  /**
   * Prepares outside: opens the targets of the adversarial agent, and defines how it acts and how success is detected.
   */
  prepare(scene: ValidatedRun): Promise<PreparedAgent> | PreparedAgent;
}

export interface PreparedAgent {
  act(actions: AdversarialActions): Promise<void>;
  probe?(evidence: EndedRun, log: AttemptLog): Promise<Probe[]> | Probe[];
  close?(): Promise<void> | void;
}

const adversarialLimits: Partial<Limits> = { steps: 200, wall_seconds: 900, script_seconds: 300 };

/** A validation agent that cheats; it is not on the list of agents. */
export function adversarialAgent(definition: AdversarialAgent): ValidationAgent {
  return {
    name: definition.name,
    summary: definition.summary,
    expects: 'no_breach',
    limits: { ...adversarialLimits, ...definition.limits },
    graded: definition.graded ?? 'final',
    fits: definition.fits ?? (() => true),
    async stage(scene): Promise<Staged> {
      const log = new AttemptLog();
      const prepared = await definition.prepare(scene);
      return {
        agent: agentOf(definition, prepared, log, scene),
        reference: null,
        attempts: () => log.attempts,
        probe: async (evidence) => (await prepared.probe?.(evidence, log)) ?? [],
        async [Symbol.asyncDispose]() {
          await prepared.close?.();
        },
      };
    },
  };
}

function agentOf(
  definition: AdversarialAgent,
  prepared: PreparedAgent,
  log: AttemptLog,
  scene: ValidatedRun,
): Agent {
  return {
    name: definition.name,
    summary: definition.summary,
    needs: { model: false, reference: false },
    options: {},
    async run(context) {
      const actions = new AdversarialActions(context, log, scene.helpersFolder);
      await prepared.act(actions);
      await actions.finish();
    },
  };
}
