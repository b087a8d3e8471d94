import { useSearchParams } from 'react-router';
import { ComparisonPage as PageData } from '../../../src/schema/index.ts';
import { experimentAddress } from '../addresses.ts';
import { useData } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import { progressWords } from '../format/numbers.ts';
import { Page } from '../parts/page.tsx';
import { Answer, Notice } from '../parts/states.tsx';
import { ComparisonView, type SideHref } from '../report/comparison-view.tsx';
import { sideAddress } from '../report/side-address.ts';

/** Two experiments, or two agents of one: what changed, and whether that is beyond noise. */
export default function ComparePage() {
  const [params] = useSearchParams();
  const live = useLive();
  const experiment = params.get('experiment');
  const a = params.get('a') ?? '';
  const b = params.get('b') ?? '';
  const result = useData({
    path: ['compare'],
    query: { a, b, ...(experiment === null ? {} : { experiment }) },
    parser: PageData,
    againWhile: ({ pending }) => pending !== null,
  });
  const sideHref: SideHref = (side, task, agent) => sideAddress({ experiment, a, b }, side, task, agent);
  return (
    <Page
      title={`${a} and ${b}`}
      crumbs={experiment === null ? [] : [{ title: experiment, to: experimentAddress(experiment) }]}
      live={live.state}
    >
      <h1>What changed</h1>
      <Answer result={result} what="the comparison">
        {({ comparison, pending }) => (
          <>
            {pending === null ? null : (
              <Notice kind="note">It is being computed{progressWords(pending)}.</Notice>
            )}
            {comparison === null ? null : <ComparisonView comparison={comparison} sideHref={sideHref} />}
          </>
        )}
      </Answer>
    </Page>
  );
}
