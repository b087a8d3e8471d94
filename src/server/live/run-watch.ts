import { type FSWatcher, watch } from 'node:fs';
import type { Budget, LiveEvent } from '../../schema/index.ts';
import { spentUntilNow } from '../catalogue/run-lines.ts';
import { outputOf, type TracedRun } from '../run/step-page.ts';
import { notJudged, timelineOf } from '../run/timeline.ts';
import { readEvents } from '../trace/read-events.ts';
import { shownSteps, usedSteps } from '../trace/trace-table.ts';
import type { Viewer } from '../viewer.ts';
import type { WatchedRun } from './live-hub.ts';

/** Not every file system reports changes. */
const pollMs = 200;
/** A step writes several events at once. */
const gatherMs = 20;

/** Follows the trace of a run that a page shows, and reports its new steps and output. */
export class RunWatch implements Disposable {
  /** The number of the event since which nothing of this run was missed. */
  readonly since: number;
  readonly #viewer: Viewer;
  readonly #run: WatchedRun;
  readonly #send: (event: LiveEvent) => void;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | null = null;
  #gathering: NodeJS.Timeout | null = null;
  #checking: Promise<void> | null = null;
  /** What was reported: the trace up to this length, so many steps, and whether the run was running. */
  #reported: { bytes: number; steps: number; isRunning: boolean; printed: number } | null = null;
  #budget: Budget | null = null;
  #isGreeting = false;

  constructor(viewer: Viewer, run: WatchedRun, since: number, send: (event: LiveEvent) => void) {
    this.since = since;
    this.#viewer = viewer;
    this.#run = run;
    this.#send = send;
    this.#poll = setInterval(() => this.#check(), pollMs);
    this.#poll.unref();
    this.#check();
  }

  /** Sends the newest step again, for a new page: what it loaded may be older than the watch. */
  greet(): void {
    this.#isGreeting = true;
    this.#check();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#poll);
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#watcher?.close();
  }

  #check(): void {
    this.#checking ??= this.#update()
      // A folder that is gone or can't be read now is retried.
      .catch(() => {})
      .finally(() => {
        this.#checking = null;
      });
  }

  #listen(folder: string): void {
    if (this.#watcher !== null) return;
    try {
      this.#watcher = watch(folder, { persistent: false }, () => {
        this.#gathering ??= setTimeout(() => {
          this.#gathering = null;
          this.#check();
        }, gatherMs);
      });
      // Polling continues.
      this.#watcher.on('error', () => {});
    } catch {
      // The folder does not exist yet, or the system has no more watches.
    }
  }

  async #update(): Promise<void> {
    const { folder, traced } = await this.#viewer.find(this.#run.experiment, this.#run.run);
    this.#listen(folder.folder);
    const { table, isRunning } = traced;
    const steps = shownSteps(table);
    const { bytes, steps: ended } = table;
    const reported = this.#reported;
    if (reported?.bytes === bytes && reported.isRunning === isRunning && !this.#isGreeting) return;
    this.#isGreeting = false;
    const isNew = reported === null || bytes < reported.bytes;
    const outputs = isNew ? [] : await this.#readOn(folder.tracePath, reported, bytes);
    this.#reported = {
      bytes,
      steps: ended,
      isRunning,
      printed: isNew ? await printedLength(traced) : reported.printed,
    };
    // A trace that became shorter belongs to a restarted run.
    const from = reported === null ? steps : isNew ? 1 : reported.steps + 1;
    const timeline = timelineOf(traced, notJudged, Math.min(from, Math.max(steps, 1)));
    const run = this.#runIds(folder.id);
    const used = spentUntilNow(traced);
    const steps_used = usedSteps(traced.table);
    this.#send({ kind: 'steps', ...run, timeline, steps_used, used, budget: this.#budget });
    for (const output of outputs) this.#send({ kind: 'output', ...run, ...output });
  }

  /** What scripts of the current step printed since then. */
  async #readOn(path: string, reported: { bytes: number; printed: number }, to: number) {
    let outputs: { step: number; from: number; text: string }[] = [];
    for await (const event of readEvents(path, { from: reported.bytes, to }, { withOutput: true })) {
      if (event.kind === 'step_finished') this.#budget = event.budget;
      if (event.kind === 'step_started' || event.kind === 'step_finished') {
        reported.printed = 0;
        outputs = [];
      }
      if (event.kind !== 'output') continue;
      const last = outputs.at(-1);
      if (last === undefined) outputs.push({ step: event.step, from: reported.printed, text: event.text });
      else last.text += event.text;
      reported.printed += event.text.length;
    }
    return outputs;
  }

  #runIds(run: Extract<LiveEvent, { kind: 'steps' }>['run']) {
    return { experiment: this.#run.experiment, run };
  }
}

/** How much the current step has printed. */
async function printedLength(traced: TracedRun): Promise<number> {
  if (traced.table.now.step === null) return 0;
  const output = await outputOf(traced, traced.table.steps + 1);
  return output === null ? 0 : output.from + output.text.length;
}
