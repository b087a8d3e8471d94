import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import {
  type BranchPlan,
  type ExperimentLine,
  type ExperimentPage,
  isImported,
  type RunId,
  type RunLine,
  type RunParent,
  type RunRecord,
  type Usage,
} from '../../schema/index.ts';
import {
  branchesIn,
  branchesName,
  type Experiment,
  nothingSpent,
  ObjectStore,
  openExperiment,
  queuedPlace,
  queueOf,
  RunFolder,
  type RunQueue,
} from '../../store/index.ts';
import type { TraceIndex } from '../trace/trace-index.ts';
import { yielder } from '../yielder.ts';
import {
  fileState,
  judgedState,
  nothingUsed,
  pendingLine,
  placedLine,
  plannedLine,
  recordedLine,
  tracedLine,
} from './run-lines.ts';

interface KnownRun {
  line: RunLine;
  /** State of the `run.json` from which the line was read. */
  state: string | null;
  /** State of the files of grades and verifications, which change after the run has ended. */
  judged: string | null;
  /** The part of its steps and usage that a branch or a fork shares with the run it began from. */
  shared: NonNullable<RunRecord['shared']>;
}

const nothingShared = { steps: 0, seconds_used: 0, spent: nothingSpent };

interface KnownBranch extends KnownRun {
  actor: string;
  parent: RunParent;
}

/** A branch as the page of its run shows it. */
export type BegunBranch = Pick<KnownBranch, 'line' | 'actor' | 'parent' | 'shared'> & { folder: RunFolder };

/** The result of checking an experiment. */
export interface Changes {
  lines: RunLine[];
  /** Runs whose results may have changed. */
  results: RunId[];
}

export interface ExperimentPlace {
  id: string;
  name: string;
  /** The folder that contains experiments. */
  root: string;
  folder: string;
  /** Only these runs are shown, and the branches that people began from them; null: all. */
  only: ReadonlySet<RunId> | null;
}

/** What is kept in memory of an experiment: lines of its runs, but not its plan, which is large. */
export class KnownExperiment {
  readonly place: ExperimentPlace;
  /** State of the plan from which this was read. */
  readonly planState: string | null;
  readonly plan: ExperimentPage['plan'];
  readonly #created: number | null;
  readonly #planProblem: string | null;
  /** Why its runs could not be checked the last time. */
  #problem: string | null = null;
  readonly #objects: ObjectStore;
  readonly #runs: KnownRun[];
  /** Branches that people began: they are not runs of the plan, so they have no lines. */
  #branches: KnownBranch[] = [];
  #branchesState: string | null = null;
  #refreshing: Promise<Changes> | null = null;
  /** Whether its runs have been read. */
  isRead = false;

  constructor(place: ExperimentPlace) {
    this.place = place;
    this.planState = fileState(join(place.folder, 'plan.json'));
    const opened = openOrSay(place.folder);
    this.#planProblem = 'message' in opened ? opened.message : null;
    const experiment = 'message' in opened ? null : opened.experiment;
    this.#created = experiment?.plan.created ?? null;
    this.plan = experiment === null ? null : planInShort(experiment);
    this.#objects = new ObjectStore(join(place.folder, 'objects'));
    this.#runs = (experiment?.plan.runs ?? [])
      .filter(({ id }) => place.only?.has(id) !== false)
      .map((spec) => ({ line: plannedLine(spec), state: null, judged: null, shared: nothingShared }));
  }

  /** What is wrong with it; null: nothing. */
  get message(): string | null {
    return this.#planProblem ?? this.#problem;
  }

  get runs(): RunLine[] {
    return this.#runs.map(({ line }) => line);
  }

  /** All branches that people began. */
  get branches(): RunLine[] {
    return this.#branches.map(({ line }) => line);
  }

  /** The branches that people began from a run, and from those branches. */
  branchesOf(id: string): BegunBranch[] {
    const found = new Set<string>([id]);
    return this.#branches
      .filter(({ line, parent }) => found.has(parent.run) && found.add(line.run))
      .map((branch) => ({ ...branch, folder: this.#folderOf(branch) }));
  }

  /** The line of a planned run or a branch. */
  lineOf(id: string): RunLine | null {
    return [...this.#runs, ...this.#branches].find(({ line }) => line.run === id)?.line ?? null;
  }

  /** The folder of a planned run or a branch; null if there is no such run. */
  runFolder(id: string): RunFolder | null {
    const run = [...this.#runs, ...this.#branches].find(({ line }) => line.run === id);
    return run === undefined ? null : this.#folderOf(run);
  }

  /** Paths of the folders of its runs, with the last known status. */
  runFolders(): { folder: string; status: RunLine['status'] }[] {
    return [...this.#runs, ...this.#branches].map(({ line }) => ({
      ...{ folder: join(this.place.folder, 'runs', line.run), status: line.status },
    }));
  }

  #folderOf({ line }: KnownRun): RunFolder {
    return new RunFolder(join(this.place.folder, 'runs', line.run), this.#objects);
  }

  /** Whether no more changes are expected. */
  get isOver(): boolean {
    return (
      this.isRead && this.#runs.every(({ line }) => line.status === 'finished' || line.status === 'failed')
    );
  }

  /**
   * Checks the records and grades of its runs; if that fails, `message` says why. Concurrent callers share one check;
   * only the first gets the changes.
   */
  async refresh(index: TraceIndex): Promise<Changes> {
    if (this.#refreshing !== null) {
      await this.#refreshing;
      return { lines: [], results: [] };
    }
    this.#refreshing = this.#refreshOnce(index).finally(() => {
      this.#refreshing = null;
    });
    return await this.#refreshing;
  }

  async #refreshOnce(index: TraceIndex): Promise<Changes> {
    const changes: Changes = { lines: [], results: [] };
    try {
      await this.#check(index, changes);
      this.#problem = null;
    } catch (error) {
      this.#problem = messageOf(error);
    }
    this.isRead = true;
    return changes;
  }

  async #check(index: TraceIndex, changes: Changes): Promise<void> {
    const yieldTurn = yielder();
    const queue = queueOf(this.place.folder);
    this.#findBranches();
    for (const run of [...this.#runs, ...this.#branches]) {
      await yieldTurn();
      const line = await this.#lineNow(run, index, queue);
      const judged = run.state === null ? null : judgedState(join(this.place.folder, 'runs', line.run));
      if (judged !== run.judged || line.status !== run.line.status) changes.results.push(line.run);
      run.judged = judged;
      if (JSON.stringify(line) === JSON.stringify(run.line)) continue;
      run.line = line;
      if (line.parent !== null) run.shared = this.#folderOf(run).readRecord()?.shared ?? run.shared;
      if (!('actor' in run)) changes.lines.push(line);
    }
  }

  /** People may begin one at any time. */
  #findBranches(): void {
    const state = fileState(join(this.place.folder, branchesName));
    if (state === this.#branchesState) return;
    const known = new Map(this.#branches.map((branch) => [branch.line.run, branch]));
    const shown = new Set(this.place.only);
    const isShown = ({ run }: BranchPlan) =>
      this.place.only === null || shown.has(run.id) || (shown.has(run.parent.run) && shown.add(run.id));
    let isWhole = true;
    const branches = branchesIn(this.place.folder, () => {
      isWhole = false;
    });
    this.#branches = branches.filter(isShown).map(
      ({ actor, run }) =>
        known.get(run.id) ?? {
          ...{ line: plannedLine(run), state: null, judged: null, actor, parent: run.parent },
          shared: nothingShared,
        },
    );
    if (isWhole) this.#branchesState = state;
  }

  async #lineNow(run: KnownRun, index: TraceIndex, queue: RunQueue): Promise<RunLine> {
    const path = join(this.place.folder, 'runs', run.line.run);
    const state = fileState(join(path, 'run.json'));
    if (state === run.state && hasEnded(run.line)) return run.line;
    run.state = state;
    if (state === null) {
      const queued = { ...pendingLine(run.line), ...queuedPlace(run.line.run, queue) };
      return existsSync(path) ? placedLine(queued, this.#folderOf(run), queue) : queued;
    }
    const folder = this.#folderOf(run);
    const recorded = recordedLine(run.line, folder);
    const line = placedLine(recorded, folder, queue);
    if (recorded.status !== 'running') return line;
    const { table } = await index.table(this.place.root, folder.tracePath);
    return tracedLine(line, table);
  }

  get line(): ExperimentLine {
    const { id, name } = this.place;
    const lines = this.runs;
    const running = lines.filter(({ status }) => status === 'running');
    const changes = lines.flatMap(({ updated }) => updated ?? []);
    return {
      ...{ id, name, state: this.#state(running.length), message: this.message, runs: lines.length },
      states: stateCounts(lines),
      tasks: [...new Set(lines.map(({ task }) => task))].sort(),
      agents: [...new Set(lines.map(({ agent }) => agent))].sort(),
      created: this.#created,
      changed: changes.length === 0 ? null : changes.reduce((one, other) => Math.max(one, other)),
      used: this.#runs.map(ownUsage).reduce(addUsage, nothingUsed),
      in_branches: this.#branches.map(ownUsage).reduce(addUsage, nothingUsed),
      running: running.slice(0, 20).map(({ run, task, agent, steps }) => ({ run, task, agent, steps })),
    };
  }

  #state(running: number): ExperimentLine['state'] {
    if (this.message !== null) return 'unreadable';
    if (!this.isRead) return 'reading';
    if (running > 0) return 'running';
    return this.#runs.every(({ line }) => line.status === 'finished') ? 'finished' : 'unfinished';
  }
}

function openOrSay(folder: string): { experiment: Experiment } | { message: string } {
  try {
    return { experiment: openExperiment(folder) };
  } catch (error) {
    return { message: messageOf(error) };
  }
}

/** Whether only a new record changes the line: those of other runs also depend on leases and decisions. */
function hasEnded({ status, unreadable, caveats }: RunLine): boolean {
  if (status === 'failed') return unreadable === null;
  return status === 'finished' || (status === 'interrupted' && isImported({ caveats }));
}

function planInShort({ plan }: Experiment): ExperimentPage['plan'] {
  const { mlab, parallel, grade, spend } = plan;
  return { mlab, parallel, grade, spend: spend ?? null };
}

function stateCounts(lines: readonly RunLine[]): ExperimentLine['states'] {
  const counts = {
    ...{ queued: 0, cancelled: 0, starting: 0, running: 0, waiting: 0 },
    ...{ finished: 0, interrupted: 0, failed: 0 },
  };
  for (const { state } of lines) counts[state] += 1;
  return counts;
}

/** Without the usage that counts for the run it began from. */
function ownUsage({ line: { used }, shared: { seconds_used, spent } }: KnownRun): Usage {
  return {
    seconds: Math.max(0, used.seconds - seconds_used),
    tokens: Math.max(0, used.tokens - spent.tokens),
    money: Math.max(0, used.money - spent.money),
    unpriced: Math.max(0, used.unpriced - spent.unpriced),
    estimated: Math.max(0, used.estimated - (spent.estimated ?? 0)),
  };
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    seconds: one.seconds + other.seconds,
    tokens: one.tokens + other.tokens,
    money: one.money + other.money,
    unpriced: one.unpriced + other.unpriced,
    estimated: one.estimated + other.estimated,
  };
}
