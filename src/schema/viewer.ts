import { z } from 'zod';
import { Comparison } from './comparison.ts';
import { EndReason, RunParent } from './event.ts';
import { Spend } from './experiment.ts';
import { RunId, TaskId } from './ids.ts';
import { Budget, Limits } from './limits.ts';
import { Report, ReportRun } from './report.ts';
import { RunPlace, RunState, RunStatus } from './run.ts';
import { Metric, TaskFile } from './task.ts';
import { ShownText, Strip } from './viewer-run.ts';

/*
 * What the viewer's server answers: all by GET, as JSON, below /api. Ids in addresses are looked up among the
 * experiments, plans and traces; none of them is used as a path. Times are milliseconds since 1970.
 * Of one run: viewer-run.ts.
 *
 * How the pages know where they are: `<script type="application/json" id="mlab-data">` in their document makes it a report in
 * one file; `<meta name="mlab-source" content="export">` an export, where `api/…` are files relative to the document, with
 * `.json` at their end and no query; else a server answers. Addresses of pages lie behind the `#`, so that any web server does.
 */

const count = z.int().min(0);

/** Every answer that is no success, with its HTTP status. */
export const ViewerError = z.object({
  code: z.string(),
  message: z.string(),
  /** What to do next. */
  hint: z.string(),
});
export type ViewerError = z.infer<typeof ViewerError>;

/**
 * `/api/info`: where the pages get their data from. `server`: everything is there. `export`: files; no search, no
 * comparison, no live events, and texts that were cut have no rest.
 */
export const ViewerInfo = z.object({
  v: z.literal(1),
  source: z.enum(['server', 'export']),
  mlab: z.string(),
  /** How a person calls mlab, for commands that are shown: `npx mlab`. */
  command: z.string(),
  /** Names of the folders that are shown; no paths. */
  folders: z.array(z.string()),
  /** When it was exported; null for a server. */
  exported: z.int().nullable(),
});
export type ViewerInfo = z.infer<typeof ViewerInfo>;

/** What runs used, as far as it is recorded. */
export const Usage = z.object({
  seconds: z.number().min(0),
  tokens: count,
  /** In US dollars, of the calls whose price is known. */
  money: z.number().min(0),
  /** Calls whose price is not known. */
  unpriced: count,
  /** Of the tokens: in calls that no provider counted as a whole. */
  estimated: count.default(0),
});
export type Usage = z.infer<typeof Usage>;

/** A run in a line: what its plan and its record say. */
export const RunLine = z.object({
  run: RunId,
  task: TaskId,
  agent: z.string(),
  seed: count,
  status: RunStatus,
  /** What it does now, where and why, as `mlab runs ls` says. */
  ...RunPlace.shape,
  end: EndReason.nullable(),
  steps: count,
  used: Usage,
  /** Null while it has not begun. */
  started: z.int().nullable(),
  updated: z.int().nullable(),
  /** The run that it is forked from. */
  parent: RunParent.nullable(),
  marks: z.array(z.string()),
  /** Why its record can't be read. */
  broken: z.string().nullable(),
});
export type RunLine = z.infer<typeof RunLine>;

/**
 * `reading`: its runs are not read yet; a live event will tell. `unfinished`: nothing works on it, and runs are left.
 * `broken`: its plan can't be read.
 */
export const ExperimentState = z.enum(['reading', 'running', 'finished', 'unfinished', 'broken']);
export type ExperimentState = z.infer<typeof ExperimentState>;

export const ExperimentLine = z.object({
  /** In addresses: its name, with `~2` and so on where several folders have one of that name. */
  id: z.string(),
  name: z.string(),
  state: ExperimentState,
  /** What is the matter, where it is broken. */
  message: z.string().nullable(),
  runs: count,
  /** How many runs are in each. */
  states: z.record(RunState, count),
  tasks: z.array(z.string()),
  agents: z.array(z.string()),
  created: z.int().nullable(),
  /** The newest change of one of its runs. */
  changed: z.int().nullable(),
  used: Usage,
  /** What runs now, at most 20 of them. */
  running: z.array(z.object({ run: RunId, task: TaskId, agent: z.string(), steps: count })),
});
export type ExperimentLine = z.infer<typeof ExperimentLine>;

/** `/api/experiments`, the newest first. */
export const ExperimentList = z.object({ experiments: z.array(ExperimentLine) });
export type ExperimentList = z.infer<typeof ExperimentList>;

/** `/api/experiments/:experiment`: from its plan and the records of its runs. */
export const ExperimentPage = z.object({
  line: ExperimentLine,
  /** Null where it is broken. */
  plan: z
    .object({
      mlab: z.string(),
      parallel: z.int(),
      grade: z.enum(['final', 'all', 'none']),
      spend: Spend.nullable(),
    })
    .nullable(),
  /** In the order of the plan. */
  runs: z.array(RunLine),
});
export type ExperimentPage = z.infer<typeof ExperimentPage>;

/** How far something is that is made in the background; live events tell of it. */
export const Progress = z.object({ done: count, total: count });
export type Progress = z.infer<typeof Progress>;

/** `/api/experiments/:experiment/report?convention=every_run|paper`. Its published columns are always filled. */
export const ReportPage = z.object({
  /** Null where it is not made yet. One that was made before the newest changes comes with `pending`, too. */
  report: Report.nullable(),
  /** Null where no newer one is being made. */
  pending: Progress.nullable(),
  /** Runs whose files are broken: they are in no number. */
  unreadable: z.array(z.string()),
});
export type ReportPage = z.infer<typeof ReportPage>;

/**
 * `/api/compare?a=…&b=…`: two experiments by their ids; with `&experiment=…` two agents of it by their labels. As many
 * agents or experiments as are compared can be named in a report's `comparisons` instead.
 */
export const ComparisonPage = z.object({
  comparison: Comparison.nullable(),
  pending: Progress.nullable(),
});
export type ComparisonPage = z.infer<typeof ComparisonPage>;

/** A self-contained report: what the element `<script type="application/json" id="mlab-data">` of its page holds. */
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
  /** Null: no task of that id is installed here; its runs are shown all the same. */
  task: z
    .object({
      title: z.string(),
      category: z.string(),
      modality: z.string(),
      summary: z.string(),
      suites: z.array(z.string()),
      /** As the agent reads it. */
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
  /** What the agent starts from. `text`: null for what is no text or is large. */
  starter: z.array(z.object({ path: z.string(), size: count, text: ShownText.nullable() })),
  runs: z.array(
    z.object({
      experiment: z.string(),
      line: RunLine,
      /** As reports know it; null where it has not been evaluated yet, and of all but some hundreds. */
      result: ReportRun.nullable(),
    }),
  ),
});
export type TaskPage = z.infer<typeof TaskPage>;

const ofRun = { experiment: z.string(), run: RunId };

/**
 * `/api/live?experiment=…&run=…`: server-sent events, each the JSON of one of these, with an id: after a broken connection
 * the browser sends the last one and gets what it missed. Runs and experiments come without being asked for; `steps` and
 * `output` only of the run that the address names.
 */
export const LiveEvent = z.discriminatedUnion('kind', [
  /** The first one of a connection. */
  z.object({ kind: z.literal('hello') }),
  /** Too much was missed: ask for everything anew. */
  z.object({ kind: z.literal('reload') }),
  z.object({ kind: z.literal('experiment'), line: ExperimentLine }),
  z.object({ kind: z.literal('experiment_gone'), experiment: z.string() }),
  z.object({ kind: z.literal('run'), experiment: z.string(), line: RunLine }),
  /**
   * New steps, and the last one before them where it has changed; replace from `strip.from` on. The newest one comes at
   * the beginning, too: a page that lacks some before it asks for the strip anew.
   */
  z.object({
    kind: z.literal('steps'),
    ...ofRun,
    strip: Strip,
    used: Usage.extend({ calls: count }),
    /** After the last step that ended. */
    budget: Budget.nullable(),
  }),
  /** What a script of the step that goes on prints. `from`: length of what came before, so that nothing shows twice. */
  z.object({ kind: z.literal('output'), ...ofRun, step: z.int().min(1), from: count, text: z.string() }),
  /** A report is being made, or is there (`done` equals `total`): ask for it. */
  z.object({ kind: z.literal('report'), experiment: z.string(), ...Progress.shape }),
  /** What a run is judged by has changed: it ended, or was graded, verified or resumed. Ask anew for what shows results. */
  z.object({ kind: z.literal('results'), ...ofRun }),
  /** The run's evaluation has been made: ask for its page and strip anew. */
  z.object({ kind: z.literal('evaluation'), ...ofRun }),
]);
export type LiveEvent = z.infer<typeof LiveEvent>;
