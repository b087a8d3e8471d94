import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import type { RunId } from '../../schema/index.ts';
import { exportViewer, type OnlyRuns, type RunningViewer, serveViewer } from '../../server/index.ts';
import type { Context, VerbResult } from '../context.ts';
import { portNumber } from '../flag-numbers.ts';
import { experimentFolder, type LocatedRun, locateRuns } from '../locate.ts';
import { openBrowser } from '../open-browser.ts';
import { snapshotOfStep } from '../run-steps.ts';
import { counted, plain } from '../table.ts';
import type { Verb } from '../verb.ts';
import { viewerPages } from '../viewer-pages.ts';

interface Options {
  port?: number;
  host?: string;
  open: boolean;
  export?: string;
}

/** The default port: always the same, so that links and open pages keep working. */
export const usualPort = 7420;
const progressMs = 2000;
const maxLeftShown = 5;

export const view: Verb = {
  arguments: [
    {
      name: '[runs...]',
      description:
        'experiments, runs (EXPERIMENT/RUN), steps (EXPERIMENT/RUN@STEP), patterns, or folders of experiments; default: all',
    },
  ],
  flags: [
    {
      flags: '--port <n>',
      description: `port to listen on; 0: any free port (default: ${usualPort}, or any free port if it is in use)`,
      parse: portNumber,
    },
    {
      flags: '--host <address>',
      description: 'address to listen on (default: 127.0.0.1); other machines need the token that is printed',
    },
    { flags: '--no-open', description: 'do not open the browser' },
    {
      flags: '--export <folder>',
      description: 'write a static site of the named runs for any web server to this folder, and exit',
    },
  ],
  details:
    'Shows experiments, runs and their steps, even while they are running; it changes nothing. Without a display, or over\n' +
    'SSH, it only prints the address. Stop it with Ctrl-C.',
  examples: [
    ['mlab view', 'all experiments, in the browser'],
    ['mlab view start-1', 'one experiment'],
    ['mlab view start-1/digits-automl-0@4', 'one step of a run'],
    ['mlab view a b --port 8080 --no-open', 'two experiments, without opening the browser'],
    ['mlab view --host 0.0.0.0', 'for other machines on the network, with a token'],
    ['mlab view start-1 --export page', 'a static site'],
    ['mlab view start-1/digits-automl-0 --export page', 'of one run'],
  ],
  async run(context, given, options: Options) {
    const places = given.flatMap((target) => placesOf(context, target));
    const shown =
      places.length > 0 ? [...new Set(places.map(({ folder }) => folder))] : [context.folders.experiments];
    const { version, command } = context;
    const viewed = {
      folders: shown,
      tasks: context.folders.tasks,
      version,
      command,
      pages: await viewerPages(context),
    };
    return options.export === undefined
      ? await serve(context, viewed, options, places.length === 1 ? (places[0]?.page ?? '') : '')
      : await write(context, { ...viewed, onlyRuns: runsOf(places) }, resolve(options.export));
  },
};

interface ShownPlace {
  folder: string;
  /** To open in the browser. */
  page: string;
  /** The runs that the target stands for; null: everything in the folder. */
  runs: RunId[] | null;
}

/** The folders to serve for a target. A folder that is no experiment contains experiments. */
function placesOf(context: Context, target: string): ShownPlace[] {
  const folder = resolve(target);
  if (
    existsSync(folder) &&
    !existsSync(join(folder, 'run.json')) &&
    experimentFolder(context, target) === null
  )
    return [{ folder, page: '', runs: null }];
  const located = Map.groupBy(
    locateRuns(context, [target], { withSteps: true }),
    ({ experiment }) => experiment.folder,
  );
  return [...located].map(([experimentFolder, runs]) => ({
    folder: experimentFolder,
    page: runs.map(pageOf).at(-1) ?? '',
    runs: runs.map(({ folder: run }) => run.id),
  }));
}

function pageOf({ experiment, folder, step, isNamed }: LocatedRun): string {
  const page = `#/experiments/${experiment.name}`;
  if (!isNamed) return page;
  return `${page}/runs/${folder.id}${step === null ? '' : `/${snapshotOfStep(folder, step).number}`}`;
}

/** The runs of each experiment that targets name. */
function runsOf(places: readonly ShownPlace[]): OnlyRuns {
  const named = new Map<string, Set<RunId>>();
  for (const { folder, runs } of places) {
    if (runs === null) continue;
    named.set(folder, new Set([...(named.get(folder) ?? []), ...runs]));
  }
  return named;
}

type Viewed = Pick<
  Parameters<typeof exportViewer>[0],
  'folders' | 'tasks' | 'version' | 'command' | 'pages' | 'onlyRuns'
>;

async function serve(context: Context, viewed: Viewed, options: Options, page: string): Promise<VerbResult> {
  const viewer = await listen(
    { ...viewed, log: context.log, ...(options.host && { host: options.host }) },
    options.port,
  );
  const { port, token } = viewer;
  const url = `${viewer.url}${page}`;
  if (options.open) await openBrowser(context, url);
  return {
    text: `The viewer is at ${url}\nStop it with Ctrl-C.`,
    json: { url, port, token },
    stay: async () => {
      context.detachable({ first: 'Stopped.', second: null });
      await using _ = viewer;
      if (!context.signal.aborted) await once(context.signal, 'abort');
    },
  };
}

/** Uses the port asked for, or the default one, which another viewer may have taken. */
async function listen(
  options: Omit<Parameters<typeof serveViewer>[0], 'port'>,
  port?: number,
): Promise<RunningViewer> {
  try {
    return await serveViewer({ ...options, port: port ?? usualPort });
  } catch (error) {
    if (port !== undefined || !UserError.isInstance(error) || error.code !== 'port_taken') throw error;
    return await serveViewer({ ...options, port: 0 });
  }
}

async function write(context: Context, viewed: Viewed, folder: string): Promise<VerbResult> {
  let next = Date.now() + progressMs;
  const onRun = (experiment: string, run: string) => {
    if (Date.now() < next) return;
    next = Date.now() + progressMs;
    context.log(`writing ${experiment}/${run}`);
  };
  const exported = await exportViewer({ ...viewed, folder, onRun, signal: context.signal });
  const { experiments, runs, steps, left } = exported;
  const lines = [
    `${counted(experiments, 'experiment')}, ${counted(runs, 'run')}, ${counted(steps, 'step')} in ${folder}`,
    `To look at it: python3 -m http.server --directory ${shellWord(folder)}, then open http://localhost:8000`,
    ...left.slice(0, maxLeftShown).map(({ what, why }) => `Left out: ${plain(what)}: ${plain(why)}`),
    ...(left.length > maxLeftShown ? [`… and ${left.length - maxLeftShown} more; --json names all.`] : []),
  ];
  return { text: lines.join('\n'), json: { folder, ...exported } };
}
