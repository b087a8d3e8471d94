import { Link } from 'react-router';
import type { RunPage } from '../../../src/schema/index.ts';
import { runAddress, taskAddress } from '../addresses.ts';
import { showPlural, showScore, showSeconds, showSpent, showTokens } from '../format/numbers.ts';
import { StatusBadge } from '../parts/badges.tsx';
import { Related } from './run-overview.tsx';

/** What the run is, and its state or result, in a line. */
/** The limit counts the steps of all branches, and the list of steps shows one history. */
function inBranches({ branches, steps, steps_used: used }: RunPage): string {
  return used === steps ? '' : ` in ${showPlural(branches.length, 'branch', 'branches')}`;
}

export function RunHead({ page, level = 1 }: { page: RunPage; level?: 1 | 2 }) {
  const Heading = `h${level}` as const;
  const { evaluation, spent, limits } = page;
  const final = evaluation?.grades.find((grade) => grade.final);
  return (
    <div className="run-head">
      <Heading>
        {level === 1 ? page.run : <Link to={runAddress(page.experiment, page.run)}>{page.run}</Link>}
      </Heading>
      <StatusBadge status={page.status} end={page.end?.reason ?? null} />
      <span>
        {page.agent} on <Link to={taskAddress(page.task)}>{page.task}</Link>
      </span>
      {final === undefined ? null : (
        <span>
          score <strong>{final.valid ? showScore(final.score) : 'none'}</strong>{' '}
          <span className="quiet">baseline {showScore(final.baseline)}</span>
        </span>
      )}
      <span className="quiet">
        {limits === null
          ? `${showPlural(page.steps_used, 'step')} · ${showSeconds(page.seconds_used)}`
          : `${page.steps_used} of ${showPlural(limits.steps, 'step')}${inBranches(page)} · ${showSeconds(page.seconds_used)} of ${showSeconds(limits.wall_seconds)}`}
        {spent === null
          ? ''
          : ` · ${showTokens(spent.tokens, spent.estimated ?? 0)} tokens · ${showSpent(spent)}`}
      </span>
      {page.parent === null ? null : (
        <span>
          {page.parent.experiment === page.experiment ? 'a branch of' : 'forked from'}{' '}
          <Related run={page.parent} />
        </span>
      )}
    </div>
  );
}
