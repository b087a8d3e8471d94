import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import { HashRouter, Link, Route, Routes } from 'react-router';
import type { Source } from './data/source.ts';
import { createClient, SourceContext } from './data/use-data.ts';
import ExperimentsPage from './pages/experiments.tsx';
import { ErrorBoundary } from './parts/error-boundary.tsx';
import { HasNavigatedContext, Page } from './parts/page.tsx';
import { Loading } from './parts/states.tsx';

const ExperimentPage = lazy(() => import('./pages/experiment.tsx'));
const RunPage = lazy(() => import('./pages/run.tsx'));
const TaskPage = lazy(() => import('./pages/task.tsx'));
const ComparePage = lazy(() => import('./pages/compare.tsx'));
const SideBySidePage = lazy(() => import('./pages/side-by-side.tsx'));

/** Addresses are behind `#`, so that the same pages work on any web server and below any path. */
export function App({ source }: { source: Source }) {
  const [client] = useState(createClient);
  const hasNavigated = useRef(false);
  return (
    <SourceContext value={source}>
      <QueryClientProvider client={client}>
        <HashRouter>
          <ErrorBoundary>
            <HasNavigatedContext value={hasNavigated}>
              <Suspense fallback={<Loading what="the page" />}>
                <Routes>
                  <Route index element={<ExperimentsPage />} />
                  <Route path="experiments/:experiment" element={<ExperimentPage />} />
                  <Route path="experiments/:experiment/runs/:run/:step?" element={<RunPage />} />
                  <Route path="tasks/:task" element={<TaskPage />} />
                  <Route path="compare" element={<ComparePage />} />
                  <Route path="side-by-side" element={<SideBySidePage />} />
                  <Route path="*" element={<NotFound />} />
                </Routes>
              </Suspense>
            </HasNavigatedContext>
          </ErrorBoundary>
        </HashRouter>
      </QueryClientProvider>
    </SourceContext>
  );
}

function NotFound() {
  return (
    <Page title="No such page">
      <h1>There is no such page</h1>
      <p>
        There is nothing at this address. <Link to="/">All experiments</Link>
      </p>
    </Page>
  );
}
