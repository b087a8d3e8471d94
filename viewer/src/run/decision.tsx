import type { StepPage } from '../../../src/schema/index.ts';
import { Notice } from '../parts/states.tsx';
import { StepArguments } from './step-action.tsx';

/** Who decided on the step, and why, unless only the agent did. */
export function Decision({ page }: { page: StepPage }) {
  const { actor, decision, proposed } = page;
  const other = proposed ?? decision?.replacement ?? null;
  return (
    <>
      {decision === null ? null : (
        <Notice kind={decision.verdict === 'allow' ? 'note' : 'warning'}>
          {decision.actor} {verdictWords[decision.verdict]}
          {decision.reason === null || decision.reason === '' ? '' : `: ${decision.reason}`}
          {other === null ? null : (
            <>
              . {proposed === null ? 'Wanted instead' : 'The agent wanted'}: <strong>{other.action}</strong>
              <StepArguments page={{ ...page, arguments: other.arguments }} />
            </>
          )}
        </Notice>
      )}
      {actor === null ? null : (
        <Notice kind="warning">This step was taken by {actor}, in the agent's place.</Notice>
      )}
    </>
  );
}

const verdictWords: Record<NonNullable<StepPage['decision']>['verdict'], string> = {
  allow: 'allowed it',
  deny: 'denied it: it was not performed',
  replace: 'replaced what the agent wanted',
  take_over: 'took over',
};
