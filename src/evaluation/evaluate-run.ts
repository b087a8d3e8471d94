import { UserError } from '../lib/errors.ts';
import type {
  BranchId,
  Efficiency,
  EvaluatedBranch,
  Grade,
  GradedStep,
  RunEvaluation,
  RunRecord,
  RunSpec,
  ScoringReference,
  TextRef,
  TraceEvent,
} from '../schema/index.ts';
import {
  EfficiencySums,
  integrityFlags,
  processMetrics,
  type RunTranscript,
  type TranscriptStep,
} from '../statistics/index.ts';
import {
  archivedAttempts,
  type BranchReader,
  beginningOf,
  currentGrades,
  eachEventSync,
  foldHistory,
  missingEvents,
  type RecordedState,
  type RunFolder,
  recordingOf,
  resolveText,
  StateReader,
  stateAfter,
  statusOf,
} from '../store/index.ts';
import { DecisionCaveats } from './decision-caveats.ts';
import { AttemptReader } from './read-attempts.ts';
import { TranscriptReader } from './read-transcript.ts';
import { agentLabel, conditionsOf, sourceOf } from './run-identity.ts';
import { withLessons } from './shown-lessons.ts';

/**
 * Everything that reports need of a run, from its files alone: its trace is read once; nothing is executed or graded.
 * @param planned the run in the experiment's plan; it may not have begun
 * @throws UserError as `eachEventSync` and `RunFolder.readRecord`; those of `ObjectStore.get`; `trace_cut` if events are
 *   missing of which its record knows
 */
export function evaluateRun(folder: RunFolder, planned: RunSpec): RunEvaluation {
  const record = folder.readRecord();
  const spec = record?.spec ?? planned;
  const {
    transcript: reader,
    efficiency,
    states,
    steps,
    caveats,
    attempts,
    ...tree
  } = readTrace(folder, record, spec.gpu);
  const { grades: stored, problems } = folder.readGrades();
  const current = currentGrades(stored, states);
  const scoringReference = scoringReferenceOf(current);
  const finalGrade = current.findLast(({ final }) => final);
  const grades = current.map((grade) => gradedStep(grade, reader.steps));
  const finalSnapshot = states.find(({ final }) => final)?.snapshot ?? null;
  const { end } = record ?? {};
  const transcript = withLessons({ ...reader.transcript(grades), ...cutOff(end) }, spec.experience ?? []);
  return {
    v: 1,
    experiment: spec.experiment,
    run: spec.id,
    ...(record === null ? {} : { recording: recordingOf(record), beginning: beginningOf(record) }),
    ...replacedPart(folder),
    ...(spec.parent === undefined ? {} : { parent: spec.parent }),
    task: spec.task,
    ...conditionsOf(spec),
    agent: agentLabel(spec),
    ...sourceOf(spec),
    seed: spec.seed,
    status: statusOf(folder, record),
    end: end ? { reason: end.reason, cause: end.cause ?? null, message: end.message } : null,
    caveats: [...new Set([...spec.caveats, ...caveats, ...(finalGrade?.caveats ?? damagedGrade(problems))])],
    steps,
    scoring_reference: scoringReference,
    grades: [...transcript.grades],
    process: processMetrics(transcript, scoringReference),
    efficiency: { ...efficiency, ...gpusOf(record) },
    integrity: integrityFlags(
      transcript,
      scoringReference,
      folder.readVerifications().verifications,
      finalSnapshot,
    ),
    ...branchesPart(tree.branches, currentGrades(stored, [...states, ...tree.others])),
    ...(attempts.length === 0 ? {} : { attempts }),
  };
}

/** Damaged attempts are left out: nothing else of them counts, either. */
function replacedPart(folder: RunFolder): Pick<RunEvaluation, 'replaced'> {
  const replaced = archivedAttempts(folder).flatMap((attempt) => {
    try {
      const record = attempt.readRecord();
      return record === null ? [] : [recordingOf(record)];
    } catch (error) {
      if (!UserError.isInstance(error)) throw error;
      return [];
    }
  });
  return replaced.length === 0 ? {} : { replaced };
}

/** A trace does not say that its run failed: it may continue. */
function cutOff(end: RunRecord['end'] | undefined): Partial<RunTranscript> {
  if (end?.reason !== 'infrastructure_error') return {};
  return { end: { reason: end.reason, message: end.message, finalAnswer: null } };
}

/** They are sampled from outside, and not part of the trace. */
function gpusOf(record: RunRecord | null): Pick<Efficiency, 'gpus'> {
  if (record?.gpus === undefined) return {};
  const { uuids, ...used } = record.gpus;
  return { gpus: used };
}

function readTrace(folder: RunFolder, record: RunRecord | null, gpu: boolean) {
  let events = 0;
  const read = function* () {
    events = 0;
    for (const event of folder.hasTrace() ? eachEventSync(folder.tracePath) : []) {
      events += 1;
      yield event;
    }
  };
  const { fold, branches } = foldHistory(read, () => new Evaluated(folder, gpu));
  const { transcript, sums, states, decisions, others } = fold;
  const steps = branches.branches.reduce((sum, branch) => sum + branch.steps, 0);
  const [missing] = missingEvents(record, { events, steps });
  if (missing !== undefined) throw cutTrace(folder, missing);
  return {
    ...{ transcript, efficiency: sums.efficiency(), states: states.states, steps, branches, others },
    ...{ caveats: decisions.caveats, attempts: fold.attempts.attempts },
  };
}

/** A damaged line that a later grade replaced is of no consequence. */
function damagedGrade(problems: readonly string[]): string[] {
  return problems.length === 0 ? [] : ['its grade is damaged: grade it again'];
}

function cutTrace({ id, tracePath }: RunFolder, missing: string): UserError {
  return new UserError(
    'trace_cut',
    `The trace of ${id} is cut off: ${missing} (${tracePath}).`,
    'Restore the file from a copy; mlab runs check lists everything that is missing.',
  );
}

/**
 * Resource use is the sum over all branches, and so are the decisions of people, on which the selection may depend;
 * everything else is that of the selected one.
 */
class Evaluated {
  readonly transcript: TranscriptReader;
  readonly sums: EfficiencySums;
  readonly states = new StateReader();
  readonly decisions = new DecisionCaveats();
  readonly attempts: AttemptReader;
  /** Of the branches that are not selected. */
  readonly others: RecordedState[] = [];

  constructor(folder: RunFolder, gpu: boolean) {
    const text = (ref: TextRef) => resolveText(folder.objects, ref);
    this.transcript = new TranscriptReader(text);
    this.attempts = new AttemptReader(text);
    this.sums = new EfficiencySums(gpu);
  }

  read(event: TraceEvent, isInHistory: boolean): void {
    this.sums.add(event);
    this.transcript.read(event, isInHistory);
    this.states.read(event, isInHistory);
    this.attempts.read(event, isInHistory);
    this.decisions.read(event);
    if (!isInHistory && event.kind === 'step_finished') this.others.push(stateAfter(event));
  }
}

/** Empty if there is only one branch. */
function branchesPart(
  { branches, selected }: BranchReader,
  grades: readonly Grade[],
): Pick<RunEvaluation, 'branches'> {
  if (branches.length < 2) return {};
  const newest = new Map(grades.map((grade) => [grade.branch ?? 'main', grade]));
  const gradeOf = (id: BranchId): EvaluatedBranch['grade'] => {
    const grade = newest.get(id);
    if (grade === undefined) return null;
    const { step, valid, score, baseline } = grade;
    return { step, valid, score, baseline };
  };
  return {
    branches: branches.map(({ id, origin, steps }) => ({
      ...{ branch: id, origin, steps, selected: id === selected, grade: gradeOf(id) },
    })),
  };
}

function gradedStep(
  { step, final, valid, score, baseline, stale }: Grade,
  steps: readonly TranscriptStep[],
): GradedStep {
  const used = steps.find((one) => one.step === step)?.used ?? { seconds: 0, tokens: 0, money: 0 };
  return { step, final, valid, score, baseline, stale, ...used };
}

/** The scoring reference of the newest grade; older grades have no spread and no reference. */
function scoringReferenceOf(grades: readonly Grade[]): ScoringReference | null {
  const grade = grades.findLast(({ final }) => final) ?? grades.at(-1);
  if (grade === undefined) return null;
  const { direction, threshold, baseline, figures } = grade;
  return {
    direction,
    threshold,
    baseline: figures?.baseline ?? { mean: baseline, spread: null, seeds: null },
    reference: figures?.reference ?? null,
    best: figures?.best ?? null,
  };
}
