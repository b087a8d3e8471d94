import { Link } from 'react-router';
import type { RelatedRun, RunPage } from '../../../src/schema/index.ts';
import { runAddress, taskAddress } from '../addresses.ts';
import {
  showAmount,
  showMoney,
  showPlural,
  showScore,
  showSeconds,
  showSpent,
  showTokens,
  showWords,
} from '../format/numbers.ts';
import { showDate } from '../format/time.ts';
import { Markdown } from '../parts/markdown.tsx';
import { Notice } from '../parts/states.tsx';
import { Words } from '../parts/words.tsx';
import { AttemptTable, AttemptTree, treeExplanation } from '../plots/attempt-tree.tsx';
import { showFlag } from '../plots/count-plots.tsx';
import { BranchTree } from './branch-tree.tsx';
import { Ratings } from './ratings.tsx';
import { LongText } from './shown-text.tsx';
import { StepPlaceContext } from './step-place.ts';

/** The run as a whole: how it ended, how it went, and its problem text. */
export function RunOverview({ page, hrefOf }: { page: RunPage; hrefOf: (step: number | null) => string }) {
  return (
    <StepPlaceContext value={{ experiment: page.experiment, run: page.run, step: page.steps }}>
      <article className="step" aria-label="the run as a whole">
        <header className="step-head">
          <h2>The run as a whole</h2>
        </header>
        <Ending page={page} />
        {page.final_answer === null ? null : (
          <div className="step-part">
            <h3>Final answer</h3>
            <LongText shown={page.final_answer}>{(text) => <Markdown text={text} />}</LongText>
          </div>
        )}
        <Claimed page={page} />
        <Attempts page={page} hrefOf={hrefOf} />
        <BranchTree page={page} />
        <Evaluation page={page} hrefOf={hrefOf} />
        <Ratings ratings={page.ratings} hrefOf={hrefOf} />
        <Facts page={page} />
        {page.problem === null ? null : (
          <details className="problem">
            <summary>The problem that the agent got</summary>
            <LongText shown={page.problem}>{(text) => <Markdown text={text} />}</LongText>
          </details>
        )}
      </article>
    </StepPlaceContext>
  );
}

function Ending({
  page: {
    end,
    status,
    where,
    waits_for: awaited,
    unreadable,
    torn_bytes: torn,
    pending,
    evaluation,
    sessions,
  },
}: {
  page: RunPage;
}) {
  return (
    <>
      {unreadable === null ? null : (
        <Notice kind="warning">
          Its files can't be read properly: <Words text={unreadable} />
        </Notice>
      )}
      {end === null ? (
        <Notice kind="note">
          <Words text={statusWords[status]} />{' '}
          {awaited
            .map(
              ({ branch, step, action }) =>
                `Step ${step}${branch === 'main' ? '' : ` of ${branch}`}: ${action}.`,
            )
            .join(' ')}
          {where === '' ? '' : ` ${status === 'pending' ? 'Queued' : 'Running'} on: ${where}.`}
        </Notice>
      ) : (
        <p>
          Ended: <strong>{showWords(end.reason)}</strong>
          {end.cause === null ? '' : ` (${showWords(end.cause)})`}
          {end.message === '' ? '' : <Words text={`. ${end.message}`} />}
        </p>
      )}
      {torn > 0 ? (
        <Notice kind="note">The last line of its trace is torn: {torn} bytes of it are left out.</Notice>
      ) : null}
      {sessions > 1 ? (
        <p className="quiet">
          It took {sessions} sessions: it was interrupted, or waited for a decision, and was resumed.
        </p>
      ) : null}
      {pending && evaluation === null ? <Notice kind="note">Its evaluation is being computed.</Notice> : null}
    </>
  );
}

const statusWords: Record<RunPage['status'], string> = {
  pending: 'It has not begun yet.',
  waiting: 'It waits for a decision on an action: `mlab decide`.',
  running: 'It is running: its steps appear as they happen.',
  interrupted: 'It was interrupted. Run the same `mlab run` again to resume it after its last step.',
  failed: 'It failed.',
  finished: 'It has ended.',
};

function Evaluation({
  page: { evaluation, verification },
  hrefOf,
}: {
  page: RunPage;
  hrefOf: (step: number | null) => string;
}) {
  if (evaluation === null) return null;
  const { scoring_reference: scoringReference, grades, integrity, process } = evaluation;
  const final = grades.find((grade) => grade.final);
  return (
    <div className="step-part">
      <h3>How it was graded</h3>
      <dl className="figures">
        <Figure name="Hidden score">
          {final === undefined ? 'not graded' : final.valid ? showScore(final.score) : 'no valid submission'}
        </Figure>
        {scoringReference === null ? null : (
          <>
            <Figure name="Baseline">{showScore(final?.baseline ?? scoringReference.baseline.mean)}</Figure>
            <Figure name="Reference">{showScore(scoringReference.reference?.mean ?? null)}</Figure>
          </>
        )}
        <Figure name="Executions">
          {process.debugging.executions}, {process.debugging.failed} failed
        </Figure>
        <Figure name="Claims">
          {process.grounding.claims}, {process.grounding.ungrounded} not measured
        </Figure>
        <Figure name="Repeated actions">{process.waste.repeated_actions}</Figure>
        {verification === null ? null : (
          <Figure name="Run again in a verification sandbox">{showWords(verification.verdict)}</Figure>
        )}
      </dl>
      <ul className="findings">
        {integrity.map(({ kind, step, weight, evidence }) => (
          <li key={`${kind} ${step} ${evidence}`}>
            <span className="warning-sign" aria-hidden="true">
              ▲
            </span>{' '}
            <strong>{showFlag(kind)}</strong>
            {weight === 'attempt' ? ', stopped' : ', in doubt'} <Place step={step} hrefOf={hrefOf} />{' '}
            <span className="quiet">{evidence}</span>
          </li>
        ))}
        {process.errors.map(({ category, evidence }) => (
          <li key={category}>
            <strong>{showWords(category)}</strong>{' '}
            {evidence.slice(0, 5).map(({ step, text }) => (
              <span key={`${step} ${text}`}>
                <Place step={step} hrefOf={hrefOf} /> <span className="quiet">{text}</span>{' '}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What an agent that searches has tried. */
function Attempts({
  page: { evaluation },
  hrefOf,
}: {
  page: RunPage;
  hrefOf: (step: number | null) => string;
}) {
  const attempts = evaluation?.attempts;
  if (attempts === undefined) return null;
  const steps = new Map(attempts.map(({ id, step }) => [id, step]));
  const hrefOfAttempt = (id: number) => {
    const step = steps.get(id) ?? null;
    return step === null ? null : hrefOf(step);
  };
  return (
    <div className="step-part">
      <h3>Attempts</h3>
      <p className="explanation">{treeExplanation}</p>
      <AttemptTree attempts={attempts} hrefOf={hrefOfAttempt} />
      <AttemptTable attempts={attempts} />
    </div>
  );
}

/** What the agent reports about itself: shown beside the measured figures, and never mixed with them. */
function Claimed({ page: { claimed } }: { page: RunPage }) {
  if (claimed === null) return null;
  const { session, cost, tokens, subagents } = claimed;
  return (
    <div className="step-part">
      <h3>Claimed by the agent</h3>
      <dl className="figures">
        {cost === null ? null : <Figure name="Cost">{showMoney(cost)}</Figure>}
        {tokens === null ? null : <Figure name="Tokens">{showAmount(tokens)}</Figure>}
        {subagents.length === 0 ? null : <Figure name="Subagents">{subagents.join(', ')}</Figure>}
        {session === null ? null : <Figure name="Session">{session}</Figure>}
      </dl>
    </div>
  );
}

function Place({ step, hrefOf }: { step: number | null; hrefOf: (step: number | null) => string }) {
  return step === null ? null : <Link to={hrefOf(step)}>step {step}</Link>;
}

function Figure({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const notRecorded = 'not recorded';

function limitWords({ steps, wall_seconds, tokens, money }: NonNullable<RunPage['limits']>): string {
  return [
    ...[showPlural(steps, 'step'), showSeconds(wall_seconds)],
    ...(tokens === undefined ? [] : [`${showAmount(tokens)} tokens`]),
    ...(money === undefined ? [] : [showMoney(money)]),
  ].join(', ');
}

function Facts({ page }: { page: RunPage }) {
  const { limits, spent } = page;
  return (
    <div className="step-part">
      <h3>What it is</h3>
      <dl className="figures">
        <Figure name="Task">
          <Link to={taskAddress(page.task)}>{page.task}</Link>
        </Figure>
        <Figure name="Agent">{page.agent}</Figure>
        {page.model === null ? null : <Figure name="Model">{page.model}</Figure>}
        <Figure name="Seed">{page.seed ?? notRecorded}</Figure>
        <Figure name="Limits">{limits === null ? notRecorded : limitWords(limits)}</Figure>
        <Figure name="Used">
          {showPlural(page.steps_used, 'step')}, {showSeconds(page.seconds_used)}
          {spent === null
            ? ''
            : `, ${showTokens(spent.tokens, spent.estimated ?? 0)} tokens, ${showSpent(spent)}`}
        </Figure>
        <Figure name="Sandbox">
          {page.sandbox ?? notRecorded}
          {page.limits_held === null ? '' : `; ${page.limits_held}`}
        </Figure>
        {page.started === null ? null : <Figure name="Begun">{showDate(page.started)}</Figure>}
        {page.caveats.length === 0 ? null : <Figure name="Caveats">{page.caveats.join(', ')}</Figure>}
        {page.parent === null ? null : (
          <Figure name={page.parent.experiment === page.experiment ? 'Branch of' : 'Forked from'}>
            <Related run={page.parent} />
          </Figure>
        )}
        {page.forks.length === 0 ? null : (
          <Figure name="Forks">
            {page.forks.map((fork) => (
              <Related key={`${fork.experiment} ${fork.run}`} run={fork} />
            ))}
          </Figure>
        )}
        <Figure name="Versions">
          {Object.entries(page.versions)
            .map(([name, version]) => `${name} ${version}`)
            .join(', ')}
        </Figure>
      </dl>
    </div>
  );
}

export function Related({ run: { experiment, name, run, step } }: { run: RelatedRun }) {
  const words = `${name}/${run}, step ${step}`;
  return experiment === null ? (
    <span>{words} (not among these experiments) </span>
  ) : (
    <span>
      <Link to={runAddress(experiment, run, step)}>{words}</Link>{' '}
    </span>
  );
}
