import { once } from 'node:events';
import { startViewerProcess, type ViewerProcess } from '../server/index.ts';
import type { Experiment } from '../store/index.ts';
import type { Context, VerbResult } from './context.ts';
import { openBrowser } from './open-browser.ts';
import { viewerPages } from './viewer-pages.ts';

/** Shows an experiment in the browser while this process works on it. */
export async function viewExperiment(context: Context, experiment: Experiment): Promise<ViewerProcess> {
  const { version, command, folders } = context;
  const viewer = await startViewerProcess({
    ...{ folders: [folders.experiments], tasks: folders.tasks, version, command, port: 0 },
    pages: await viewerPages(context),
  });
  const url = `${viewer.url}#/experiments/${experiment.name}`;
  context.log(`Watch it at ${url}`);
  await openBrowser(context, url);
  return viewer;
}

/** Keeps the viewer open after the end, for a person who is watching; without a terminal nobody could end it. */
export function withViewer(context: Context, result: VerbResult, viewer: ViewerProcess): VerbResult {
  if (!context.isTerminal || context.signal.aborted) {
    viewer[Symbol.dispose]();
    return result;
  }
  const stay = async () => {
    using _ = viewer;
    await once(context.signal, 'abort');
  };
  return { ...result, text: `${result.text}\n\nThe viewer stays open at ${viewer.url} until Ctrl-C.`, stay };
}
