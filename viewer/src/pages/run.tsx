import { useParams } from 'react-router';
import { RunPage as PageData, Timeline } from '../../../src/schema/index.ts';
import { experimentAddress, runAddress } from '../addresses.ts';
import { useData } from '../data/use-data.ts';
import { useLive } from '../data/use-live.ts';
import { Page } from '../parts/page.tsx';
import { Answer } from '../parts/states.tsx';
import { RunBrowser } from '../run/run-browser.tsx';
import { runPath } from '../run/step-place.ts';

/** One run: a timeline of all its steps, and each step in full. */
export default function RunPage() {
  const { experiment = '', run = '', step } = useParams();
  const live = useLive(experiment, run);
  // An event reports that its evaluation is ready, but it may come before this page listens.
  const againWhile = ({ pending }: { pending: boolean }) => pending;
  const page = useData({ path: runPath({ experiment, run }), parser: PageData, againWhile });
  const timeline = useData({ path: runPath({ experiment, run }, 'timeline'), parser: Timeline, againWhile });
  const chosen = step !== undefined && /^\d{1,9}$/.test(step) ? Number(step) : null;
  return (
    <Page
      title={chosen === null ? run : `${run}, step ${chosen}`}
      crumbs={[
        { title: experiment, to: experimentAddress(experiment) },
        { title: run, to: runAddress(experiment, run) },
      ]}
      live={live.state}
      filled
    >
      <Answer result={page} what={`the run ${run}`}>
        {(data) => (
          <Answer result={timeline} what="its steps">
            {(steps) => (
              <RunBrowser key={run} page={data} timeline={steps} step={chosen} output={live.output} />
            )}
          </Answer>
        )}
      </Answer>
    </Page>
  );
}
