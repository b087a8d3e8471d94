import { styleText } from 'node:util';
import { createLogUpdate } from 'log-update';
import { crashCause } from '../lib/crash-cause.ts';
import { plainLine } from '../lib/plain-line.ts';
import type { ExperimentProgress } from '../runs/index.ts';
import type { EndReason, FailedAttempt, Plan, RunRecord } from '../schema/index.ts';
import { improvementOf } from '../statistics/index.ts';
import { decisionWait } from '../store/index.ts';
import { shownText } from './approve-actions.ts';
import type { Context } from './context.ts';
import { ProgressSum } from './progress-sum.ts';
import { counted, duration, number, oneLine, percent, plain } from './table.ts';

export interface ProgressView extends Disposable {
  show(progress: ExperimentProgress): void;
}

/**
 * Shows the progress of an experiment: at a terminal one self-updating line per run, else one line per important event.
 */
export function createProgressView(
  plan: Plan,
  isTerminal: boolean,
  context: ShownIn & Pick<Context, 'verbosity' | 'printer'>,
  {
    place = atATime(plan),
    showsResults = false,
  }: { place?: string | undefined; showsResults?: boolean } = {},
): ProgressView {
  context.log(`${plan.name}: ${counted(plan.runs.length, 'run')}, ${place}`);
  const showsSteps = context.verbosity === 'verbose';
  return isTerminal ? new LiveView(plan, context) : new LineView(context, { plan, showsSteps, showsResults });
}

/** Where progress is shown: how to print a line there, and how to call mlab. */
type ShownIn = Pick<Context, 'log' | 'command' | 'placeFlags'>;

/** How many runs are executed at once. */
export function atATime({ parallel }: Plan): string {
  return parallel === 1 ? 'one at a time' : `up to ${parallel} at a time`;
}

/** One line per important event, for an experiment that is executed elsewhere. */
export function lineView(context: ShownIn): ProgressView {
  return new LineView(context, { plan: null, showsSteps: false, showsResults: false });
}

/** The state of a run, as one line shows it. */
interface RunLine {
  state: 'waiting' | 'running' | 'grading' | 'done' | 'broken';
  /** Null while it is executed elsewhere, where its steps are not seen. */
  step: number | null;
  doing: string;
  started: number;
  result: string;
}

const framesPerSecond = 8;
/** Columns for the symbol, the step, the time and the current activity. */
const columnsBesideName = 28;

class LiveView implements ProgressView {
  readonly #plan: Plan;
  readonly #lines = new Map<string, RunLine>();
  // Hiding the cursor would install a listener for SIGINT, which ends the process: see Interrupts.
  readonly #update = createLogUpdate(process.stderr, { showCursor: true });
  readonly #timer: NodeJS.Timeout;
  readonly #sum: ProgressSum;
  readonly #shownIn: ShownIn;
  readonly #printer: Context['printer'];
  readonly #printAsBefore: Context['printer']['print'];

  constructor(plan: Plan, shownIn: ShownIn & Pick<Context, 'printer'>) {
    this.#plan = plan;
    this.#shownIn = shownIn;
    this.#sum = new ProgressSum(plan);
    this.#printer = shownIn.printer;
    this.#printAsBefore = this.#printer.print;
    this.#printer.print = (line) => {
      this.#update.persist(line);
      this.#draw();
    };
    for (const { id } of plan.runs) {
      this.#lines.set(id, { state: 'waiting', step: 0, doing: '', started: 0, result: '' });
    }
    this.#timer = setInterval(() => this.#draw(), 1000 / framesPerSecond);
  }

  show(progress: ExperimentProgress): void {
    this.#sum.add(progress);
    const line = this.#lines.get(progress.run.id);
    if (line === undefined) return;
    switch (progress.kind) {
      case 'run_waits':
        Object.assign(line, {
          state: 'running',
          started: performance.now(),
          doing: waitsText(progress.holder),
        });
        break;
      case 'run_taken_over':
        break;
      case 'run_queued':
        Object.assign(line, { state: 'waiting', doing: `queued: ${progress.place}` });
        break;
      case 'run_started':
        Object.assign(line, {
          ...{ state: 'running', started: performance.now() },
          ...(progress.place === undefined
            ? { step: 0, doing: '' }
            : { step: null, doing: `running on ${progress.place}` }),
        });
        break;
      case 'run_step':
        this.#step(line, progress.progress);
        break;
      case 'run_ended':
        Object.assign(line, {
          state: 'grading',
          doing: 'grading',
          result: progress.record.end?.reason ?? '',
        });
        if (progress.record.status === 'waiting')
          Object.assign(line, { state: 'waiting', doing: decideText(progress.record, this.#shownIn) });
        else if (progress.record.status !== 'finished') Object.assign(line, { state: 'broken', doing: '' });
        break;
      default:
        Object.assign(line, { state: progress.kind === 'run_not_graded' ? 'broken' : 'done' });
        line.result = resultText(progress, this.#shownIn);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#draw();
    this.#update.done();
    this.#printer.print = this.#printAsBefore;
  }

  #step(line: RunLine, progress: StepProgress): void {
    if (progress.kind === 'step_started')
      Object.assign(line, { step: progress.step, doing: progress.action });
    if (progress.kind === 'output') line.doing = progress.text.trimEnd().split('\n').at(-1) ?? '';
    if (progress.kind === 'note') line.doing = Object.values(progress.entries).join(' ');
    if (progress.kind === 'model_asked') line.doing = `calling ${progress.model} (${progress.purpose})`;
    if (progress.kind === 'model_retry') line.doing = waitingText(progress.attempt);
  }

  #draw(): void {
    // A terminal that does not know its size says 0.
    const width = process.stderr.columns || 100;
    const all = this.#plan.runs.map((run) => ({ run, line: this.#lines.get(run.id) }));
    const done = all.filter(({ line }) => line?.state === 'done').length;
    // Only so many lines fit on a screen; runs under way come first.
    const rows = Math.max(4, (process.stderr.rows || 24) - 3);
    const shown = all.length <= rows ? all : all.filter(({ line }) => line?.state !== 'waiting').slice(-rows);
    const longest = Math.max(...this.#plan.runs.map(({ id }) => id.length));
    const nameWidth = Math.max(8, Math.min(longest, width - columnsBesideName));
    const lines = shown.map(({ run, line }) =>
      line === undefined ? '' : lineText(shortName(run.id, nameWidth).padEnd(nameWidth), line, width),
    );
    const count = (state: RunLine['state']) => all.filter(({ line }) => line?.state === state).length;
    const hidden =
      shown.length === all.length ? '' : `${count('running')} running, ${count('waiting')} waiting`;
    const facts = [
      `${done} of ${all.length} runs done`,
      hidden,
      leftText(this.#sum.leftMs()),
      this.#sum.spentText(),
    ];
    const sum = facts.filter((fact) => fact !== '').join(' · ');
    this.#update([...lines, styleText('dim', oneLine(sum, width - 1))].join('\n'));
  }
}

function leftText(left: number | null): string {
  return left === null || left < 1000
    ? ''
    : `about ${duration(Math.round(left / 1000)).replace('.0 s', ' s')} left`;
}

const marks = { waiting: '·', running: '▸', grading: '▸', done: '✓', broken: '✗' } as const;

/** Ids of runs differ at their ends: the task in front, the seed at the back. */
function shortName(id: string, width: number): string {
  if (id.length <= width) return id;
  const tail = Math.floor(width / 2);
  return `${id.slice(0, width - tail - 1)}…${id.slice(-tail)}`;
}

function lineText(name: string, line: RunLine, width: number): string {
  const mark = marks[line.state];
  const head = `${mark} ${name} `;
  const widthAfter = (text: string) => Math.max(1, width - text.length - 1);
  if (line.state === 'waiting')
    return styleText('dim', `${head}${oneLine(line.doing, widthAfter(head))}`.trimEnd());
  if (line.state === 'done' || line.state === 'broken') {
    const colour = line.state === 'done' ? 'green' : 'red';
    return `${styleText(colour, mark)} ${name} ${oneLine(line.result, widthAfter(head))}`;
  }
  const time = duration((performance.now() - line.started) / 1000);
  const step = line.step === null ? '' : `step ${String(line.step).padStart(3)}  `;
  const facts = `${head}${step}${time.padStart(8)}  `;
  return `${facts}${styleText('dim', oneLine(line.doing, widthAfter(facts)))}`;
}

/** A wait for a provider that is long enough to report. */
const longWaitMs = 5_000;

function waitingText({ failure, waited_ms: waited, message }: FailedAttempt): string {
  return `waiting ${duration(waited / 1000)} for its model (${failure}: ${oneLine(message, 200)})`;
}

type StepProgress = (ExperimentProgress & { kind: 'run_step' })['progress'];

/** What --verbose adds; empty for events that are too many even there. */
function stepText(progress: StepProgress): string {
  if (progress.kind === 'step_started') return `step ${progress.step}: ${progress.action}`;
  if (progress.kind === 'model_asked') return `calling ${progress.model} (${progress.purpose})`;
  if (progress.kind === 'note') return oneLine(Object.values(progress.entries).join(' '), 200);
  return '';
}

function waitsText(holder: string): string {
  return `checking whether ${holder} is still executing this run`;
}

interface LinesToShow {
  /** For the totals after each run; null if unknown. */
  plan: Plan | null;
  /** A line for each step and each model call. */
  showsSteps: boolean;
  /** The result of each step, for somebody who decides on the next. */
  showsResults: boolean;
}

class LineView implements ProgressView {
  readonly #shownIn: ShownIn;
  readonly #log: (line: string) => void;
  readonly #shows: LinesToShow;
  readonly #sum: ProgressSum | null;

  constructor(shownIn: ShownIn, shows: LinesToShow) {
    this.#shownIn = shownIn;
    this.#log = shownIn.log;
    this.#shows = shows;
    this.#sum = shows.plan && new ProgressSum(shows.plan);
  }

  show(progress: ExperimentProgress): void {
    const { id } = progress.run;
    this.#sum?.add(progress);
    if (progress.kind === 'run_started')
      this.#log(
        `${id}: ${startText(progress)}${progress.place === undefined ? '' : ` on ${progress.place}`}`,
      );
    else if (progress.kind === 'run_queued') {
      if (progress.held === true) this.#log(`${id}: on hold until it is released: ${plain(progress.place)}`);
    } else if (progress.kind === 'run_taken_over')
      this.#log(`${id}: taken over from ${progress.holder}, which is no longer running`);
    else if (progress.kind === 'run_waits') this.#log(`${id}: ${waitsText(progress.holder)}`);
    else if (progress.kind === 'run_ended') {
      const { record } = progress;
      const { end, steps, seconds_used } = record;
      const waits = decisionWait(record);
      const ended = `${end?.reason ?? record.status} after ${counted(steps, 'step')}, ${duration(seconds_used)}${causeText(record)}`;
      this.#log(`${id}: ${waits === '' ? ended : plain(decideText(record, this.#shownIn))}`);
      this.#logTotals();
    } else if (progress.kind === 'run_step') {
      const { progress: step } = progress;
      const isLong = step.kind === 'model_retry' && step.attempt.waited_ms >= longWaitMs;
      if (isLong) this.#log(`${id}: ${plain(waitingText(step.attempt))}`);
      const text = this.#shows.showsSteps ? stepText(step) : '';
      if (text !== '') this.#log(`${id}: ${plain(text)}`);
      if (this.#shows.showsResults && step.kind === 'step_finished')
        this.#log(`${id}: step ${step.step}: ${step.result.status}\n${shownText(step.result.observation)}`);
    } else {
      this.#log(`${id}: ${plain(resultText(progress, this.#shownIn))}`);
      if (progress.kind === 'run_graded' && this.#sum?.over === this.#runs) this.#logTotals();
    }
  }

  get #runs(): number {
    return this.#shows.plan?.runs.length ?? 1;
  }

  /** The totals, after a run. */
  #logTotals(): void {
    const waiting = this.#sum?.waiting ?? 0;
    const over = this.#sum?.over ?? 0;
    const graded = this.#sum?.gradedText ?? '';
    const ended = [`${over} of ${this.#runs} runs ended`, graded].filter((part) => part !== '').join(', ');
    const facts = [
      waiting === 0 ? '' : `${waiting} waiting for a decision`,
      leftText(this.#sum?.leftMs() ?? null),
      this.#sum?.spentText() ?? '',
    ].filter((fact) => fact !== '');
    const isWorthIt = facts.length > 0 || (over === this.#runs && graded !== '');
    if (this.#runs > 1 && isWorthIt) this.#log([ended, ...facts].join(' · '));
  }

  [Symbol.dispose](): void {}
}

const explained = new Set<EndReason>(['agent_error', 'infrastructure_error', 'money_limit', 'token_limit']);

/** Why a run failed or ended early, for people who see nothing else of it. */
function causeText({ end }: RunRecord): string {
  if (end === null || !explained.has(end.reason)) return '';
  return `: ${plainLine(crashCause(end.message), 200)}`;
}

/** What a run waits for, and what to type. */
function decideText(record: RunRecord, { command, placeFlags }: ShownIn): string {
  const decide = `${command} decide ${record.spec.experiment}/${record.spec.id}`;
  return `${decisionWait(record)}; see it with ${decide}${placeFlags}, then ${decide} allow${placeFlags} or ${decide} deny --reason "…"${placeFlags}`;
}

function resultText(progress: ExperimentProgress, shownIn: ShownIn): string {
  if (progress.kind === 'run_not_graded') return crashCause(progress.message);
  if (progress.kind === 'run_kept' && progress.record.status === 'waiting')
    return decideText(progress.record, shownIn);
  if (progress.kind === 'run_kept') return `kept (${progress.record.end?.reason ?? progress.record.status})`;
  if (progress.kind !== 'run_graded') return '';
  const grade = progress.grades.findLast(({ final }) => final);
  if (grade === undefined) return 'not graded';
  if (!grade.valid) return `no valid submission: ${grade.problems.map(({ message }) => message).join('; ')}`;
  return `score ${number(grade.score)}, ${percent(improvementOf(grade), true)} against the baseline ${number(grade.baseline)}`;
}

function startText({ resumed, again }: Extract<ExperimentProgress, { kind: 'run_started' }>): string {
  if (resumed) return 'resumed';
  if (again === undefined) return 'started';
  const why = again === 'no_step' ? 'it had not taken a step yet' : 'its program can not be resumed';
  return `started again from the beginning, as ${why}`;
}
