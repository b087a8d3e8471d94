import { type ReactNode, useMemo } from 'react';
import { StepPage } from '../../../src/schema/index.ts';
import type { LiveOutput } from '../data/live-output.ts';
import { useData } from '../data/use-data.ts';
import { showAmount, showBytes, showMoney, showPlural, showScore, showSeconds } from '../format/numbers.ts';
import { showDate } from '../format/time.ts';
import { StepStatusBadge } from '../parts/badges.tsx';
import { Answer, Notice } from '../parts/states.tsx';
import { Words } from '../parts/words.tsx';
import { Decision } from './decision.tsx';
import { ModelCalls } from './model-calls.tsx';
import { InnerSteps, StepArguments, StepObservation } from './step-action.tsx';
import { StepEntries } from './step-entries.tsx';
import { type StepPlace, StepPlaceContext, stepPath } from './step-place.ts';
import { warningWords } from './warning-words.ts';
import { Workspace } from './workspace.tsx';

interface StepDetailProps extends StepPlace {
  output: LiveOutput | null;
  /** How many steps there are now; by default, as many as when the step was requested. */
  total?: number;
  tools?: ReactNode;
}

/** One step in full. */
export function StepDetail({ experiment, run, step, output, total, tools }: StepDetailProps) {
  const place = useMemo(() => ({ experiment, run, step }), [experiment, run, step]);
  const result = useData({ path: stepPath(place), parser: StepPage });
  return (
    <StepPlaceContext value={place}>
      <article className="step" aria-label={`step ${step}`}>
        <Answer result={result} what={`step ${step}`}>
          {(page) => (
            <>
              <Head page={page} total={total ?? page.total} tools={tools} />
              <Warnings page={page} />
              <Decision page={page} />
              <StepEntries entries={page.entries} more={page.more_entries} />
              <StepArguments page={page} />
              {page.action === null ? null : (
                <StepObservation page={page} live={output?.step === step ? output : null} />
              )}
              <InnerSteps page={page} />
              {page.snapshot === null ? null : <Workspace key={step} changed={page.changed_count} />}
              <ModelCalls calls={page.calls} />
              <Figures page={page} />
            </>
          )}
        </Answer>
      </article>
    </StepPlaceContext>
  );
}

function Head({ page, total, tools }: { page: StepPage; total: number; tools: ReactNode }) {
  const { step, action, status, duration_ms: duration, started } = page;
  const name = action ?? (step === 0 ? 'Starter' : 'After the last step');
  return (
    <header className="step-head">
      <h2>
        <span className="step-number">{step <= total && step > 0 ? `${step} of ${total}` : ''}</span> {name}
      </h2>
      {status === null ? null : <StepStatusBadge status={status} />}
      <span className="quiet">
        {duration === null || duration < 1 ? '' : `${showSeconds(duration / 1000)} · `}
        {started === null ? '' : showDate(started)}
      </span>
      {tools}
    </header>
  );
}

function Warnings({ page }: { page: StepPage }) {
  return (
    <>
      {page.resumed ? <Notice kind="note">The run was interrupted here and resumed.</Notice> : null}
      {page.warnings.map(({ kind, text }) => (
        <Notice key={`${kind} ${text}`} kind="warning">
          <strong>{warningWords[kind]}</strong> <Words text={text} />
        </Notice>
      ))}
      {page.grade === null ? null : <Grade grade={page.grade} />}
    </>
  );
}

function Grade({ grade }: { grade: NonNullable<StepPage['grade']> }) {
  return (
    <div className={grade.valid ? 'grade' : 'grade grade-none'}>
      Hidden score after this step:{' '}
      <strong>{grade.valid ? showScore(grade.score) : 'no valid submission'}</strong>{' '}
      <span className="quiet">baseline {showScore(grade.baseline)}</span>
      {grade.problems.map(({ code, message }) => (
        <p key={`${code} ${message}`} className="bad">
          <Words text={message} />
        </p>
      ))}
    </div>
  );
}

function Figures({ page }: { page: StepPage }) {
  const { budget, submission } = page;
  const facts = [
    budget === null
      ? null
      : `${showPlural(budget.steps_left, 'step')} and ${showSeconds(budget.seconds_left)} left`,
    budget?.tokens_left == null ? null : `${showAmount(budget.tokens_left)} tokens left`,
    budget?.money_left == null ? null : `${showMoney(budget.money_left)} left`,
    page.cpu_seconds === null ? null : `${showSeconds(page.cpu_seconds)} of processor time`,
    page.peak_memory_bytes === null ? null : `${showBytes(page.peak_memory_bytes)} of memory`,
    page.overhead_ms === null ? null : `${showSeconds(page.overhead_ms / 1000)} for tracing`,
    submission === null ? null : submissionWords(submission),
  ].filter((fact) => fact !== null);
  return facts.length === 0 ? null : <p className="step-facts quiet">{facts.join(' · ')}</p>;
}

function submissionWords({
  present,
  stale,
  written_at_step: written,
}: NonNullable<StepPage['submission']>): string {
  if (!present) return 'no submission yet';
  return `submission ${written === null ? 'of the starter' : `written at step ${written}`}${stale ? ', stale' : ''}`;
}
