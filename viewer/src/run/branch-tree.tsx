import { Link } from 'react-router';
import type { RunPage } from '../../../src/schema/index.ts';
import { runAddress } from '../addresses.ts';
import { showPlural, showScore, showWords } from '../format/numbers.ts';

/** The tree of branches with their hidden scores, if there are several: the agent's branches, and people's. */
export function BranchTree({ page }: { page: RunPage }) {
  if (page.branches.length < 2 && page.begun.length === 0) return null;
  return (
    <div className="step-part">
      <h3>Branches</h3>
      <AgentsBranches page={page} of={null} />
      {page.begun.length === 0 ? null : (
        <>
          <p className="quiet">Begun by people; reports do not count them.</p>
          <PeoplesBranches page={page} of={page.run} />
        </>
      )}
    </div>
  );
}

/** @param of the branch whose forks are listed; null: the branch without an origin */
function AgentsBranches({ page, of }: { page: RunPage; of: string | null }) {
  const forks = page.branches.filter(({ origin }) => (origin?.branch ?? null) === of);
  if (forks.length === 0) return null;
  const isForked = (id: string) => page.branches.some(({ origin }) => origin?.branch === id);
  const listed = forks.filter(({ id, steps, selected }) => steps > 0 || selected || isForked(id));
  const others = forks.length - listed.length;
  return (
    <ul className="branches">
      {listed.map(({ id, origin, steps, selected }) => (
        <li key={id}>
          {selected ? <strong>{id}</strong> : id}
          {origin === null ? '' : `, from step ${origin.step}`}: {showPlural(steps, 'step')}
          {scoreWords(page, id)}
          {selected ? ' (selected: graded, and shown here)' : ''}
          <AgentsBranches page={page} of={id} />
        </li>
      ))}
      {others === 0 ? null : <li className="quiet">{others} more without steps of their own</li>}
    </ul>
  );
}

function scoreWords({ evaluation }: RunPage, id: string): string {
  const grade = evaluation?.branches?.find(({ branch }) => branch === id)?.grade ?? null;
  if (grade !== null)
    return grade.valid ? `, score ${showScore(grade.score)} at step ${grade.step}` : ', no valid submission';
  const final = id === 'main' ? evaluation?.grades.find((one) => one.final) : undefined;
  return final?.valid === true ? `, score ${showScore(final.score)}` : '';
}

/** @param of the run or the branch whose branches are listed */
function PeoplesBranches({ page, of }: { page: RunPage; of: string }) {
  const listed = page.begun.filter(({ origin }) => origin.run === of);
  if (listed.length === 0) return null;
  return (
    <ul className="branches">
      {listed.map(({ run, actor, origin, steps, status, end, score }) => (
        <li key={run}>
          <Link to={runAddress(page.experiment, run)}>{run}</Link>, from step {origin.step}, by {actor}:{' '}
          {showPlural(steps, 'step')} of its own, {showWords(end ?? status)}
          {score === null ? '' : `, score ${showScore(score)}`}
          <PeoplesBranches page={page} of={run} />
        </li>
      ))}
    </ul>
  );
}
