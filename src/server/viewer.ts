import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import {
  type ComparisonPage,
  type Convention,
  type ExperimentList,
  type ExperimentPage,
  type FileList,
  type FileText,
  isImported,
  type LiveEvent,
  ObjectId,
  type ReportPage,
  type RunPage,
  type SearchResult,
  type StepDiff,
  type StepPage,
  type SubmissionProblem,
  TaskId,
  type TaskPage,
  type TextRest,
  type Timeline,
  type ViewerInfo,
} from '../schema/index.ts';
import { ObjectStore, type RunFolder } from '../store/index.ts';
import { Background } from './background/background.ts';
import { Judgements } from './background/judgements.ts';
import { Reports } from './background/reports.ts';
import { Catalogue, type OnlyRuns } from './catalogue/catalogue.ts';
import type { ExperimentPlace, KnownExperiment } from './catalogue/known-experiment.ts';
import { relativesOf } from './catalogue/relatives.ts';
import { notFound } from './not-found.ts';
import { fileList, fileText } from './run/files.ts';
import { runPage } from './run/run-page.ts';
import { searchSteps } from './run/search.ts';
import { type RestFrom, ShownTexts, wholeCharacters } from './run/shown-texts.ts';
import { snapshotAfter } from './run/step-events.ts';
import { readStep, type TracedRun } from './run/step-page.ts';
import { notJudged, timelineOf } from './run/timeline.ts';
import { findTask, runsOn, starterFiles, taskPart } from './task-page.ts';
import { TraceIndex } from './trace/trace-index.ts';
import { hasTail, shownSteps } from './trace/trace-table.ts';

export interface ViewerOptions {
  /** Folders that contain experiments, or are one. */
  folders: readonly string[];
  /** Default: all runs. */
  onlyRuns?: OnlyRuns;
  /** Folders of tasks. */
  tasks: readonly string[];
  version: string;
  /** How a person calls mlab. */
  command: string;
  /** Where pages get the rest of a text that was cut. */
  restFrom?: RestFrom;
}

/** A run by its ids, with what every request about it needs. */
interface FoundRun {
  experiment: KnownExperiment;
  folder: RunFolder;
  traced: TracedRun;
  tornBytes: number;
}

/** A small run is evaluated within this time, so that its page is complete at once. */
const waitMs = 60;
const maxRestLength = 1_000_000;
const maxQueryLength = 1000;

/**
 * Answers every request of the pages from files: only reads, and never more of a trace than necessary. Ids are looked
 * up among experiments, plans and steps; none of them is part of a path.
 */
export class Viewer implements Disposable {
  readonly catalogue: Catalogue;
  readonly index = new TraceIndex();
  readonly #options: ViewerOptions;
  /** One process for slow results, one for results that people wait for, one for results needed at once. */
  readonly #forReports = new Background(true, 2000);
  readonly #forRuns = new Background(false, 5000);
  readonly #forDiffs = new Background(false);
  readonly #judgements: Judgements;
  readonly #reports: Reports;

  /** @param tell receives live events */
  constructor(options: ViewerOptions, tell: (event: LiveEvent) => void = () => {}) {
    this.#options = options;
    this.catalogue = new Catalogue(options.folders, this.index, tell, options.onlyRuns);
    this.#judgements = new Judgements(this.#forRuns, tell);
    this.#reports = new Reports(this.#forReports, options.tasks, tell);
  }

  info(exported: number | null = null): ViewerInfo {
    const { version, command } = this.#options;
    const source = exported === null ? 'server' : 'export';
    return { v: 1, source, mlab: version, command, folders: this.catalogue.folderNames, exported };
  }

  experiments(): ExperimentList {
    return { experiments: this.catalogue.lines };
  }

  async experiment(id: string): Promise<ExperimentPage> {
    const experiment = this.catalogue.experiment(id);
    await this.catalogue.refresh(experiment);
    return { line: experiment.line, plan: experiment.plan, runs: experiment.runs };
  }

  async report(id: string, convention: Convention): Promise<ReportPage> {
    return await this.#reports.report(this.#sound(id), convention);
  }

  async compare(a: string, b: string, experiment: string | null): Promise<ComparisonPage> {
    const ids = experiment === null ? [a, b] : [experiment];
    return await this.#reports.compare(
      ids.map((id) => this.#sound(id)),
      a,
      b,
    );
  }

  async run(id: string, runId: string, signal?: AbortSignal): Promise<RunPage> {
    const { experiment, folder, traced, tornBytes } = await this.#find(id, runId);
    this.#forDiffs.warmUp();
    const { place } = experiment;
    const judgement = await this.#judgements.of(place, folder, waitMs);
    const related = relativesOf(this.catalogue.experiments, experiment, runId);
    const { table, isRunning } = traced;
    const parts = { place, folder, table, isRunning, tornBytes, judgement, ...related };
    return await runPage(parts, this.#texts(folder), signal);
  }

  async timeline(id: string, runId: string, from?: number, to?: number): Promise<Timeline> {
    const { experiment, folder, traced } = await this.#find(id, runId);
    const { evaluation, ...judged } = await this.#judgements.of(experiment.place, folder);
    return timelineOf(traced, { ...judged, grades: evaluation?.grades ?? [] }, from, to);
  }

  async step(id: string, runId: string, step: number, signal?: AbortSignal): Promise<StepPage> {
    const { experiment, folder, traced } = await this.#findStep(id, runId, step);
    const read = await readStep(traced, step, this.#texts(folder), signal);
    const { evaluation, warnings } = await this.#judgements.of(experiment.place, folder);
    const graded = evaluation?.grades.find((grade) => grade.step === step);
    const problems = graded?.valid === false ? problemsAt(folder, step) : [];
    const line = experiment.lineOf(runId);
    return {
      ...read,
      budget: line !== null && isImported(line) ? null : read.budget,
      warnings: warnings.filter((warning) => warning.step === step),
      grade: graded === undefined ? null : { ...graded, problems },
    };
  }

  /** The full version of a text that a page cut, by its name on the page. */
  async wholeText(
    id: string,
    runId: string,
    step: number,
    part: string,
    signal?: AbortSignal,
  ): Promise<string> {
    const { experiment, folder, traced, tornBytes } = await this.#findStep(id, runId, step);
    const texts = new ShownTexts(folder.objects, 'server', part);
    if (part === 'problem' || part === 'final_answer') {
      const judgement = { ...notJudged, evaluation: null, unreadable: null };
      const parts = {
        place: experiment.place,
        folder,
        table: traced.table,
        isRunning: traced.isRunning,
        tornBytes,
        judgement,
        parent: null,
        forks: [],
        begun: [],
      };
      await runPage(parts, texts, signal);
    } else await readStep(traced, step, texts, signal);
    if (texts.found !== null) return texts.found;
    throw notFound('unknown_text', `Step ${step} has no text of this name.`, 'Reload the step.');
  }

  async textRest(
    id: string,
    runId: string,
    step: number,
    part: string,
    from: number,
    signal?: AbortSignal,
  ): Promise<TextRest> {
    const text = await this.wholeText(id, runId, step, part, signal);
    return {
      part,
      from,
      text: wholeCharacters(text.slice(from, from + maxRestLength)),
      length: text.length,
    };
  }

  async files(id: string, runId: string, step: number, signal?: AbortSignal): Promise<FileList> {
    const { folder, traced } = await this.#findStep(id, runId, step);
    const snapshot = await this.#snapshot(traced, step, signal);
    const before = step === 0 ? null : await snapshotAfter(traced.path, traced.table, step - 1, signal);
    return fileList(folder.objects, step, snapshot, before);
  }

  async diff(
    id: string,
    runId: string,
    step: number,
    against: number,
    signal?: AbortSignal,
  ): Promise<StepDiff> {
    const { folder, traced } = await this.#findStep(id, runId, Math.max(step, against));
    const [before, after] = [
      await this.#snapshot(traced, against, signal),
      await this.#snapshot(traced, step, signal),
    ];
    if (before === after) return { step, against, files: [], total: 0 };
    const found = await this.#forDiffs.do('diff', { objects: folder.objects.folder, before, after });
    return { step, against, ...found };
  }

  object(id: string, object: string): FileText {
    return fileText(this.#objects(id), this.#objectId(object));
  }

  /** The bytes of a file, checked against its hash; errors as `ObjectStore.openReadStream`. */
  objectBytes(id: string, object: string) {
    return this.#objects(id).openReadStream(this.#objectId(object));
  }

  async search(
    id: string,
    runId: string,
    query: string,
    from: number,
    signal?: AbortSignal,
  ): Promise<SearchResult> {
    if (query.trim() === '' || query.length > maxQueryLength) {
      throw new UserError(
        'bad_query',
        'There is nothing to search for.',
        'Give some words, at most 1,000 characters.',
      );
    }
    const { folder, traced } = await this.#find(id, runId);
    return await searchSteps(traced, this.#texts(folder), query, from, signal);
  }

  async task(given: string): Promise<TaskPage> {
    const id = TaskId.safeParse(given).data;
    const { experiments } = this.catalogue;
    const known = (place: ExperimentPlace, folder: RunFolder) => this.#judgements.known(place, folder);
    const runs = id === undefined ? [] : await runsOn(id, experiments, known);
    const task = id === undefined ? null : findTask(id, this.#options.tasks);
    if (id === undefined || (task === null && runs.length === 0))
      throw notFound(
        'unknown_task',
        `There is no task "${given}".`,
        'Choose one of those that experiments have.',
      );
    return { id, task: task && taskPart(task), starter: task === null ? [] : starterFiles(task), runs };
  }

  /**
   * A run, with its trace read up to now.
   * @throws UserError `unknown_experiment`, `unknown_run`
   */
  async find(id: string, runId: string): Promise<FoundRun> {
    return await this.#find(id, runId);
  }

  [Symbol.dispose](): void {
    for (const background of [this.#forReports, this.#forRuns, this.#forDiffs]) background[Symbol.dispose]();
    this.#judgements[Symbol.dispose]();
    this.#reports[Symbol.dispose]();
    this.index[Symbol.dispose]();
  }

  #texts(folder: RunFolder): ShownTexts {
    return new ShownTexts(folder.objects, this.#options.restFrom);
  }

  async #find(id: string, runId: string): Promise<FoundRun> {
    const { experiment, folder } = this.catalogue.run(id, runId);
    const { table, tornBytes } = await this.index.table(experiment.place.root, folder.tracePath);
    const traced = { path: folder.tracePath, table, isRunning: folder.holder() !== null };
    return { experiment, folder, traced, tornBytes };
  }

  /** @throws UserError as `find`, and `unknown_step` */
  async #findStep(id: string, runId: string, step: number): Promise<FoundRun> {
    const found = await this.#find(id, runId);
    const { table } = found.traced;
    const last = shownSteps(table) + (hasTail(table) ? 1 : 0);
    if (step <= last) return found;
    throw notFound('unknown_step', `There is no step ${step}.`, `The run has ${shownSteps(table)} steps.`);
  }

  async #snapshot({ path, table }: TracedRun, step: number, signal?: AbortSignal): Promise<ObjectId> {
    const snapshot = await snapshotAfter(path, table, step, signal);
    if (snapshot !== null) return snapshot;
    throw notFound(
      'unknown_snapshot',
      `Step ${step} has not ended: its files are not recorded yet.`,
      'Open the step before it.',
    );
  }

  /** @throws UserError `broken_experiment` if its plan can't be read */
  #sound(id: string): KnownExperiment {
    const experiment = this.catalogue.experiment(id);
    const { message } = experiment.line;
    if (message === null) return experiment;
    throw new UserError('broken_experiment', message, 'Repair or delete its folder.');
  }

  #objects(id: string): ObjectStore {
    return new ObjectStore(join(this.catalogue.experiment(id).place.folder, 'objects'));
  }

  #objectId(given: string): ObjectId {
    const id = ObjectId.safeParse(given);
    if (id.success) return id.data;
    throw notFound('unknown_object', 'There is no such file.', null);
  }
}

/** The problems of the submission after a step. */
function problemsAt(folder: RunFolder, step: number): SubmissionProblem[] {
  return folder.readGrades().grades.findLast((grade) => grade.step === step)?.problems ?? [];
}
