import { z } from 'zod';
import { Comparison } from './comparison.ts';
import { EndReason, RunParent } from './event.ts';
import { ExperimentQuota } from './experiment.ts';
import { RunId, TaskId } from './ids.ts';
import { Budget, Limits } from './limits.ts';
import { Report, ReportRun } from './report.ts';
import { RunPlace, RunState, RunStatus } from './run.ts';
import { Metric, TaskFile } from './task.ts';
import { ShownText, Timeline } from './viewer-run.ts';

/*
 * Replies of the viewer's server: all by GET, as JSON, below /api. Ids in addresses are looked up among the
 * experiments, plans and traces; none of them is used as a path. Times are milliseconds since 1970. About one run:
 * viewer-run.ts.
 *
 * How the pages find their data: if their document has `<script type="application/json" id="mlab-data">`, it is a
 * report in one file; if it has `<meta name="mlab-source" content="export">`, it is an export, in which `api/…` are
 * files relative to the document, with the suffix `.json` and no query; otherwise a server answers. Addresses of pages
 * are behind the `#`, so any web server can serve them.
 */

const count = z.int().min(0);

/** Every error response, with its HTTP status. */
export const ViewerError = z.object({
  code: z.string(),
  message: z.string(),
  /** What to do next. */
  hint: z.string(),
});
export type ViewerError = z.infer<typeof ViewerError>;

/**
 * `/api/info`: where the pages get their data from. `server`: everything is available. `export`: files; no search, no
 * comparison, no live events, and texts that were cut can't be loaded in full.
 */
export const ViewerInfo = z.object({
  v: z.literal(1),
  source: z.enum(['server', 'export']),
  mlab: z.string(),
  /** How to call mlab, for commands that are shown: `npx mlab`. */
  command: z.string(),
  /** Names of the folders that are shown, without paths. */
  folders: z.array(z.string()),
  /** The time of the export; null for a server. */
  exported: z.int().nullable(),
});
export type ViewerInfo = z.infer<typeof ViewerInfo>;

/** What runs used, as far as it is recorded. */
export const Usage = z.object({
  seconds: z.number().min(0),
  tokens: count,
  /** In US dollars, of the calls with a known price. */
  money: z.number().min(0),
  /** Calls with an unknown price. */
  unpriced: count,
  /** How many of the tokens are from calls for which the provider gave no full counts. */
  estimated: count.default(0),
});
export type Usage = z.infer<typeof Usage>;

/** A run in a line: from its plan and its record. */
export const RunLine = z.object({
  run: RunId,
  task: TaskId,
  agent: z.string(),
  seed: count,
  status: RunStatus,
  /** Its state, where it runs and why it waits, as in `mlab runs ls`. */
  ...RunPlace.shape,
  end: EndReason.nullable(),
  steps: count,
  used: Usage,
  /** Null while it has not begun. */
  started: z.int().nullable(),
  updated: z.int().nullable(),
  /** The run that it is forked from. */
  parent: RunParent.nullable(),
  caveats: z.array(z.string()),
  /** Why its record can't be read. */
  unreadable: z.string().nullable(),
});
export type RunLine = z.infer<typeof RunLine>;

/**
 * `reading`: its runs are not read yet; a live event will follow. `unfinished`: runs are left, but nothing executes
 * them. `unreadable`: its plan can't be read.
 */
export const ExperimentState = z.enum(['reading', 'running', 'finished', 'unfinished', 'unreadable']);
export type ExperimentState = z.infer<typeof ExperimentState>;

export const ExperimentLine = z.object({
  /** In addresses: its name, with `~2` and so on if several folders have one of that name. */
  id: z.string(),
  name: z.string(),
  state: ExperimentState,
  /** What is wrong, if it is unreadable. */
  message: z.string().nullable(),
  runs: count,
  /** How many runs are in each state. */
  states: z.record(RunState, count),
  tasks: z.array(z.string()),
  agents: z.array(z.string()),
  created: z.int().nullable(),
  /** The newest change of one of its runs. */
  changed: z.int().nullable(),
  /** By its runs, each call once: without what forks share with the runs they began from. */
  used: Usage,
  /** By the branches that people began from its runs, without what they share with them. */
  in_branches: Usage,
  /** Running runs, at most 20 of them. */
  running: z.array(z.object({ run: RunId, task: TaskId, agent: z.string(), steps: count })),
});
export type ExperimentLine = z.infer<typeof ExperimentLine>;

/** `/api/experiments`, newest first. */
export const ExperimentList = z.object({ experiments: z.array(ExperimentLine) });
export type ExperimentList = z.infer<typeof ExperimentList>;

/** `/api/experiments/:experiment`: from its plan and the records of its runs. */
export const ExperimentPage = z.object({
  line: ExperimentLine,
  /** Null if it is unreadable. */
  plan: z
    .object({
      mlab: z.string(),
      parallel: z.int(),
      grade: z.enum(['final', 'all', 'none']),
      spend: ExperimentQuota.nullable(),
    })
    .nullable(),
  /** In the order of the plan. */
  runs: z.array(RunLine),
});
export type ExperimentPage = z.infer<typeof ExperimentPage>;

/** The progress of something that is made in the background; live events report it. */
export const Progress = z.object({ done: count, total: count });
export type Progress = z.infer<typeof Progress>;

/** `/api/experiments/:experiment/report?convention=every_run|paper`. Its published columns are always filled. */
export const ReportPage = z.object({
  /** Null if it is not made yet. A report from before the newest changes comes with `pending`, too. */
  report: Report.nullable(),
  /** Null if no newer one is being made. */
  pending: Progress.nullable(),
  /** Runs whose files are damaged: they are left out. */
  unreadable: z.array(z.string()),
});
export type ReportPage = z.infer<typeof ReportPage>;

/**
 * `/api/compare?a=…&b=…`: two experiments by their ids; with `&experiment=…`, two of its agents by their labels. To
 * compare more, see `comparisons` of a report.
 */
export const ComparisonPage = z.object({
  comparison: Comparison.nullable(),
  pending: Progress.nullable(),
});
export type ComparisonPage = z.infer<typeof ComparisonPage>;

/**
 * A self-contained report: the content of the element `<script type="application/json" id="mlab-data">` of its page.
 */
export const ReportFile = z.object({
  v: z.literal(1),
  title: z.string(),
  mlab: z.string(),
  report: Report,
  comparison: Comparison.nullable(),
  unreadable: z.array(z.string()),
});
export type ReportFile = z.infer<typeof ReportFile>;

/** `/api/tasks/:task`. */
export const TaskPage = z.object({
  id: TaskId,
  /** Null: no task with that id is installed here; its runs are shown nevertheless. */
  task: z
    .object({
      title: z.string(),
      category: z.string(),
      modality: z.string(),
      summary: z.string(),
      suites: z.array(z.string()),
      /** As the agent sees it. */
      problem: z.string(),
      entry: z.string(),
      metric: Metric,
      baseline: TaskFile.shape.baseline,
      reference: TaskFile.shape.reference,
      threshold: z.number().positive(),
      limits: Limits,
      submission: TaskFile.shape.submission,
      read_only: z.array(z.string()),
      /** The paper's numbers, in per cent. */
      published: TaskFile.shape.paper,
    })
    .nullable(),
  /** The starter's files. `text`: null for files that are not text or are large. */
  starter: z.array(z.object({ path: z.string(), size: count, text: ShownText.nullable() })),
  runs: z.array(
    z.object({
      experiment: z.string(),
      line: RunLine,
      /** As in reports; null if it has not been evaluated yet, and beyond the first few hundred. */
      result: ReportRun.nullable(),
    }),
  ),
});
export type TaskPage = z.infer<typeof TaskPage>;

const ofRun = { experiment: z.string(), run: RunId };

/**
 * `/api/live?experiment=…&run=…`: server-sent events, each the JSON of one of these, with an id: after a broken
 * connection the browser sends the last id and gets what it missed. Runs and experiments are always sent; `steps` and
 * `output` only for the run in the address.
 */
export const LiveEvent = z.discriminatedUnion('kind', [
  /** The first one of a connection. */
  z.object({ kind: z.literal('hello') }),
  /** Too much was missed: request everything again. */
  z.object({ kind: z.literal('reload') }),
  z.object({ kind: z.literal('experiment'), line: ExperimentLine }),
  z.object({ kind: z.literal('experiment_gone'), experiment: z.string() }),
  z.object({ kind: z.literal('run'), experiment: z.string(), line: RunLine }),
  /**
   * New steps, and the last one before them if it has changed; replace from `timeline.from` on. The newest step is also
   * sent at the beginning: a page that lacks earlier steps requests the timeline again.
   */
  z.object({
    kind: z.literal('steps'),
    ...ofRun,
    timeline: Timeline,
    /** Of all branches. */
    steps_used: count,
    used: Usage.extend({ calls: count }),
    /** After the last step that ended. */
    budget: Budget.nullable(),
  }),
  /** Output of a script in the current step. `from`: length of the output before, so that nothing is shown twice. */
  z.object({ kind: z.literal('output'), ...ofRun, step: z.int().min(1), from: count, text: z.string() }),
  /** A report is being made, or is ready (`done` equals `total`): request it. */
  z.object({ kind: z.literal('report'), experiment: z.string(), ...Progress.shape }),
  /**
   * The results of a run have changed: it ended, or was graded, verified or resumed. Request everything that shows
   * results again.
   */
  z.object({ kind: z.literal('results'), ...ofRun }),
  /** The run's evaluation is ready: request its page and timeline again. */
  z.object({ kind: z.literal('evaluation'), ...ofRun }),
]);
export type LiveEvent = z.infer<typeof LiveEvent>;
