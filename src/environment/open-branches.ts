import type { BranchId, ModelRequest } from '../schema/index.ts';
import type { BranchHistories } from './branch-history.ts';
import type { BranchPlace, BranchPlaces } from './branch-place.ts';
import { LiveBranch } from './live-branch.ts';
import type { RunParts } from './run-parts.ts';
import type { ToolReply } from './tool-access.ts';

/** More idle branches than this are closed: the store has their content. */
const maxIdle = 8;

export interface OpenBranchesOptions {
  run: RunParts;
  histories: BranchHistories;
  /** Of `main`; the caller closes it. */
  main: BranchPlace;
  /** Null: there is only `main`. */
  places: BranchPlaces | null;
}

/** The branches of a run that have a workspace now. A workspace is made from the store when it is first needed. */
export class OpenBranches implements AsyncDisposable {
  readonly #options: OpenBranchesOptions;
  readonly #main: LiveBranch;
  /** Least recently used first. */
  readonly #open = new Map<BranchId, Promise<LiveBranch>>();
  readonly #busy = new Map<BranchId, number>();

  constructor(options: OpenBranchesOptions) {
    const { run, histories, main } = options;
    this.#options = options;
    this.#main = new LiveBranch(run, histories.of('main'), main);
  }

  /** Does something on a branch, whose workspace stays open meanwhile. */
  async use<Result>(id: BranchId, work: (branch: LiveBranch) => Promise<Result>): Promise<Result> {
    if (id === 'main') return await work(this.#main);
    this.#busy.set(id, (this.#busy.get(id) ?? 0) + 1);
    try {
      const opening = this.#open.get(id) ?? this.#make(id);
      this.#open.delete(id);
      this.#open.set(id, opening);
      return await work(await opening);
    } finally {
      const users = (this.#busy.get(id) ?? 1) - 1;
      if (users === 0) this.#busy.delete(id);
      else this.#busy.set(id, users);
      await this.#giveUpIdle();
    }
  }

  /** Calls the run's model for a tool in a step of `main`. */
  askForTool(request: ModelRequest): Promise<ToolReply> {
    return this.#main.askForTool(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    this.#open.clear();
    await this.#main[Symbol.asyncDispose]();
    for (const one of opened) {
      if (one.status === 'rejected') continue;
      await one.value[Symbol.asyncDispose]();
      await one.value.place[Symbol.asyncDispose]();
    }
  }

  async #make(id: BranchId): Promise<LiveBranch> {
    const { run, histories, places } = this.#options;
    if (places === null) throw new Error('this run can have no other branch than main');
    const history = histories.of(id);
    const lineage = histories.lineage(id);
    let branch: LiveBranch | null = null;
    const near = [...lineage.keys()].find((one) => one !== id && this.#open.has(one)) ?? 'main';
    const place = await this.use(near, ({ place: { snapshotter } }) =>
      places.open(id, {
        ...{ step: history.lastStep, snapshot: history.snapshotAt(), lineage, near: snapshotter },
        askForTool: async (request) =>
          branch === null
            ? { kind: 'closed', message: 'The branch has not begun.' }
            : branch.askForTool(request),
      }),
    );
    branch = new LiveBranch(run, history, place);
    return branch;
  }

  async #giveUpIdle(): Promise<void> {
    const idle = [...this.#open].filter(([id]) => !this.#busy.has(id));
    for (const [id, opening] of idle.slice(0, Math.max(0, idle.length - maxIdle))) {
      this.#open.delete(id);
      const branch = await opening;
      await branch[Symbol.asyncDispose]();
      await branch.place.discard();
    }
  }
}
