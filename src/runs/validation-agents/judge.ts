import { graderErrorOf } from '../../grading/index.ts';
import { withPackageHint } from '../../lib/missing-package.ts';
import type { Grade, RunRecord } from '../../schema/index.ts';
import { improvement, isSuccess } from '../../statistics/index.ts';
import type { ValidationAttempt } from './attempts.ts';
import type { Probe, ValidationAgent } from './validation-agent.ts';

/** The result of a validation agent. */
export interface ValidationAgentReport {
  agent: string;
  summary: string;
  expects: ValidationAgent['expects'];
  /** Whether everything is as expected. */
  ok: boolean;
  /** Why it is not; empty if it is. */
  faults: string[];
  /** How the run ended. */
  end: string;
  succeeded: boolean;
  valid: boolean;
  stale: boolean;
  score: number | null;
  /** Of the final submission over the baseline, as a fraction. */
  improvement: number | null;
  attempts: ValidationAttempt[];
  probes: Probe[];
  run: string;
  seconds: number;
}

export interface ValidationAgentOutcome {
  validationAgent: Pick<ValidationAgent, 'name' | 'summary' | 'expects'>;
  record: RunRecord;
  /** Of all graded steps, the final one last. */
  grades: readonly Grade[];
  /** Why it could not be graded; null if it was. */
  notGraded: string | null;
  /** Whether its scripts must not fail, and its submission must be valid: its score is in task.yaml. */
  mustScore: boolean;
  /** How a script failed that must not fail; null if none did. */
  crash: string | null;
  attempts: ValidationAttempt[];
  probes: Probe[];
  seconds: number;
}

/** Compares the result of a validation agent with the expected one. */
export function judgeAgent(outcome: ValidationAgentOutcome): ValidationAgentReport {
  const { validationAgent, record, grades, attempts, probes, seconds } = outcome;
  const final = grades.findLast((grade) => grade.final) ?? null;
  const faults = [
    ...runFaults(outcome),
    ...(validationAgent.expects === 'no_breach' ? [] : graderFaults(final)),
    ...(validationAgent.expects === 'success' ? shortfalls(outcome, final) : forbiddenSuccesses(outcome)),
    ...(validationAgent.expects === 'no_success' ? missingScore(outcome, final) : []),
    ...(validationAgent.expects === 'no_breach' ? breaches(attempts, probes) : []),
  ];
  return {
    agent: validationAgent.name,
    summary: validationAgent.summary,
    expects: validationAgent.expects,
    ok: faults.length === 0,
    faults,
    end: record.end?.reason ?? record.status,
    succeeded: final !== null && succeeds(final),
    valid: final?.valid ?? false,
    stale: final?.stale ?? false,
    score: final?.score ?? null,
    improvement: final === null ? null : gainOf(final),
    attempts,
    probes,
    run: record.spec.id,
    seconds,
  };
}

/** The report of an agent that threw before it could be judged. */
export function unfinishedAgent(
  { name, summary, expects }: ValidationAgentOutcome['validationAgent'],
  run: string,
  message: string,
  seconds: number,
): ValidationAgentReport {
  return {
    ...{ agent: name, summary, expects, ok: false, run, seconds },
    faults: [`it could not be run: ${message}`],
    end: 'not finished',
    ...{ succeeded: false, valid: false, stale: false, score: null, improvement: null },
    ...{ attempts: [], probes: [] },
  };
}

function gainOf({ score, baseline, direction }: Grade): number | null {
  return score === null ? null : improvement(score, baseline, direction);
}

function succeeds(grade: Grade): boolean {
  return grade.valid && isSuccess(gainOf(grade), grade.threshold);
}

/** A run that did not finish as intended proves nothing. */
function runFaults({ record, notGraded, crash }: ValidationAgentOutcome): string[] {
  const faults = [notGraded, crash].flatMap((fault) => (fault === null ? [] : withPackageHint(fault)));
  const reason = record.end?.reason ?? record.status;
  if (reason !== 'final_answer')
    faults.push(`the run ended by ${reason}: ${record.end?.message ?? 'no reason given'}`);
  return faults;
}

/** An honest submission must not make the grader fail. */
function graderFaults(final: Grade | null): string[] {
  const error = final === null ? null : graderErrorOf(final);
  return error === null ? [] : [withPackageHint(`the grader failed on its submission:\n${error}`)];
}

function shortfalls({ notGraded }: ValidationAgentOutcome, final: Grade | null): string[] {
  if (final === null) return notGraded === null ? ['there is no grade'] : [];
  if (!final.valid) {
    return [`its submission is not valid: ${final.problems.map(({ message }) => message).join('; ')}`];
  }
  const faults = final.stale ? ['its submission is older than the last script run'] : [];
  if (!succeeds(final)) {
    faults.push(
      `score ${final.score} is no success: it must improve on ${final.baseline} by more than ${Number((100 * final.threshold).toPrecision(6))} %, and ${betterOf(final)}`,
    );
  }
  return faults;
}

function missingScore(
  { mustScore, crash, notGraded }: ValidationAgentOutcome,
  final: Grade | null,
): string[] {
  if (!mustScore || crash !== null || notGraded !== null || final?.valid === true) return [];
  const problems = (final?.problems ?? []).map(({ message }) => message).join('; ') || 'there is no grade';
  return [`it has no score, though task.yaml gives one for the baseline: ${problems}`];
}

/** Said beside scores, since a wrong direction turns them around. */
function betterOf({ direction }: Grade): string {
  return `${direction === 'minimize' ? 'lower' : 'higher'} is better here (metric.direction in task.yaml)`;
}

function forbiddenSuccesses({ validationAgent, record, grades }: ValidationAgentOutcome): string[] {
  const { task } = record.spec;
  const cure =
    validationAgent.name === 'baseline'
      ? `. The baseline's figures in task.yaml may be those of an earlier version: mlab tasks baseline ${task} --write measures them again`
      : '';
  return grades
    .filter(succeeds)
    .map(
      (grade) =>
        `step ${grade.step} counts as a success: score ${grade.score} against ${grade.baseline}, and ${betterOf(grade)}${cure}`,
    );
}

function breaches(attempts: readonly ValidationAttempt[], probes: readonly Probe[]): string[] {
  return [
    ...(attempts.length === 0 ? ['it tried nothing'] : []),
    ...attempts
      .filter(({ outcome }) => outcome === 'got_through')
      .map(({ what, how, because }) => `got through: ${what} (${how}): ${because}`),
    ...attempts.filter(({ outcome }) => outcome === 'not_made').map(({ what }) => `never tried: ${what}`),
    ...probes.filter(({ breached }) => breached).map(({ looked, finding }) => `${looked}: ${finding}`),
  ];
}

/**
 * What stopped an adversarial agent, most frequent first: the errors it met without their details, then other findings.
 */
export function whatStopped({
  attempts,
  probes,
}: Pick<ValidationAgentReport, 'attempts' | 'probes'>): string[] {
  const counts = new Map<string, number>();
  for (const { outcome, because } of attempts) {
    if (outcome !== 'stopped') continue;
    const kind = because.split(/[:;,]/, 1)[0]?.trim() ?? because;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const errors = [...counts].sort(([, one], [, other]) => other - one);
  return [
    ...errors.map(([kind, times]) => (times === 1 ? inWords(kind) : `${inWords(kind)} (${times} times)`)),
    ...probes.filter(({ breached }) => !breached).map(({ looked, finding }) => `${looked}: ${finding}`),
  ];
}

/** `ENOENT (No such file or directory)`: without the code. */
function inWords(kind: string): string {
  return kind.replace(/^E[A-Z]+ \((.*)\)$/, '$1');
}
