import { execFile } from 'node:child_process';
import { hasCode, messageOf, UserError } from '../../../lib/errors.ts';
import { refusal, unreachable } from '../arrays/array-scheduler.ts';
import type { JobStates } from '../arrays/job-state.ts';
import { parseAccounting, parseQueue } from './job-states.ts';

/** How a Slurm command ended. */
interface Ending {
  code: number;
  out: string;
  err: string;
}

const maxBytes = 2 ** 29;
const maxMs = 120_000;
/** Of a line that is shown to people. */
const maxReason = 300;
/** Slurm's default for MaxArraySize. */
export const usualArraySize = 1001;
/** Messages that blame the controller, not the request; then it is unknown whether a request was accepted. */
const silence =
  /unable to contact|socket timed out|communications? (connection )?failure|connection refused|zero bytes were transmitted|resource temporarily unavailable|slurmctld.*(?:down|backup)|not responding/i;

/** Messages that no controller could be asked: this shell is not set up for Slurm, or lacks its authentication. */
const notSetUp =
  /could not establish a configuration source|unable to process configuration file|munge encode failed/i;

/** Slurm's command line, with `--json` for commands that have it. */
export class SlurmCommands {
  readonly #variables: Readonly<Record<string, string | undefined>>;
  #trouble = '';

  constructor(variables: Readonly<Record<string, string | undefined>>) {
    this.#variables = variables;
  }

  /** Why the controller did not answer last. */
  get trouble(): string {
    return this.#trouble;
  }

  /** @throws UserError `no_slurm` */
  async checkInstalled(): Promise<void> {
    for (const command of ['sbatch', 'squeue', 'scontrol', 'scancel'])
      await this.#run(command, ['--version']);
  }

  /**
   * @returns the number of the array; null if the controller did not answer, and may have accepted it
   * @throws UserError if it was refused, or could not be sent
   */
  async submit(options: readonly string[]): Promise<string | null> {
    const { code, out, err } = await this.#run('sbatch', ['--parsable', ...options]);
    const id = /^(\d+)/.exec(out)?.[1];
    if (code === 0 && id !== undefined) return id;
    if (notSetUp.test(err)) throw unreachableSlurm(reasonIn(err));
    if (silence.test(err)) {
      this.#trouble = reasonIn(err);
      return null;
    }
    throw new UserError(
      refusal,
      `Slurm rejected the jobs: ${err.trim() || out.trim()}`,
      'Change executor.slurm in the experiment file; sinfo and sacctmgr show associations list what is available.',
    );
  }

  /**
   * The jobs that the controller knows; null if it does not answer. Jobs that have ended are listed for some minutes
   * (MinJobAge).
   */
  async queue(): Promise<JobStates | null> {
    const { code, out, err } = await this.#run('squeue', ['--json', '--me']);
    if (code === 0) return parsed(parseQueue, out);
    this.#trouble = reasonIn(err);
    return null;
  }

  /** What accounting knows about arrays; nothing if there is no accounting. */
  async accounted(ids: readonly string[]): Promise<JobStates> {
    const { code, out } = await this.#run('sacct', ['--json', '--jobs', ids.join(',')]);
    return code === 0 && out.trimStart().startsWith('{') ? parsed(parseAccounting, out) : new Map();
  }

  /**
   * @param jobs arrays, or jobs of them
   * @returns whether the controller was told
   */
  async cancel(jobs: readonly string[]): Promise<boolean> {
    const { code, err } = await this.#run('scancel', jobs);
    return code === 0 || !silence.test(err);
  }

  /** The most jobs in one array. */
  async mostOfArray(): Promise<number> {
    const { out } = await this.#run('scontrol', ['show', 'config']);
    const size = Number(/^MaxArraySize\s*=\s*(\d+)/m.exec(out)?.[1] ?? usualArraySize);
    return Math.max(1, size - 1);
  }

  /** Runs in a separate session: Ctrl-C at the terminal must not interrupt a command to the controller. */
  #run(command: string, args: readonly string[]): Promise<Ending> {
    const env = { ...this.#variables, SLURM_BITSTR_LEN: '0' };
    const options = { env, maxBuffer: maxBytes, timeout: maxMs, detached: true };
    return new Promise((resolve, reject) => {
      execFile(command, args, options, (error, out, err) => {
        if (hasCode(error, 'ENOENT')) reject(noSlurm(command));
        else
          resolve({
            code: error === null ? 0 : 1,
            out,
            err: err || (error === null ? '' : messageOf(error)),
          });
      });
    });
  }
}

/** The line that says what is wrong, without the name of the command: Slurm prints how it came to it before. */
export function reasonIn(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((each) => each.includes(' fatal: ')) ?? lines[0] ?? '';
  return line
    .replace(/^\w+: (?:fatal|error): /, '')
    .trim()
    .slice(0, maxReason);
}

function parsed(parse: (text: string) => JobStates, text: string): JobStates {
  try {
    return parse(text);
  } catch (error) {
    throw new UserError(
      'slurm_json',
      `Slurm printed unexpected JSON: ${messageOf(error).slice(0, 500)}`,
      'mlab supports Slurm 22.05 and newer, built with JSON (squeue --json must work).',
      { cause: error },
    );
  }
}

export function unreachableSlurm(why: string): UserError {
  return new UserError(
    unreachable,
    `Slurm can't be reached${why === '' ? '' : `: ${why}`}`,
    "Check that sinfo works in this shell: SLURM_CONF must name the cluster's configuration if it is not in /etc/slurm, and its controller must be up (scontrol ping).",
  );
}

function noSlurm(command: string): UserError {
  return new UserError(
    'no_slurm',
    `${command} is not installed on this machine.`,
    'Run mlab on a login node of Slurm, or add its commands to PATH.',
  );
}
