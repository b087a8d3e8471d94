import { basename } from 'node:path';
import { evaluationsOf } from '../../evaluation/index.ts';
import { UserError } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { type FurtherCosts, furtherCosts } from '../../runs/index.ts';
import type { Report, RunEvaluation } from '../../schema/index.ts';
import { reportOptions, reportPage } from '../../server/index.ts';
import {
  buildReport,
  type ComparedSide,
  compareRuns,
  distinctAgents,
  type ReportOptions,
  withoutCopies,
} from '../../statistics/index.ts';
import { findTasks } from '../../tasks/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { newerRuns } from '../newer-runs.ts';
import { identityTexts } from '../renamed-experiments.ts';
import type { DocumentTable, ReportDocument } from '../report/document.ts';
import { documentOf, parseTableName, reportedRuns, tableNames, usualTables } from '../report/document-of.ts';
import { csvText, latexText, markdownText, terminalText } from '../report/formats.ts';
import { incompleteRuns, withIncomplete } from '../report/incomplete-runs.ts';
import type { ReportTableName } from '../report/tables.ts';
import type { Verb } from '../verb.ts';
import { viewerPages } from '../viewer-pages.ts';

interface Options {
  format: Format;
  table?: ReportTableName[];
  convention: keyof typeof conventions;
  published?: boolean;
  compare?: string[];
}

const formats = ['text', 'markdown', 'csv', 'latex', 'html', 'json'] as const;
type Format = (typeof formats)[number];
const conventions = { 'every-run': 'every_run', paper: 'paper' } as const;

export const report: Verb = {
  onlyReads: true,
  arguments: [{ ...runsArgument, name: '[runs...]' }],
  flags: [
    {
      flags: '--format <format>',
      description: formats.join(', '),
      default: 'text',
      choices: formats,
    },
    {
      flags: '--table <names>',
      description: `tables to print, except as html or json: ${tableNames.join(', ')}`,
      parse: (text) => text.split(',').map(parseTableName),
    },
    {
      flags: '--convention <name>',
      description:
        'every-run, or paper: the rules of the paper for which runs count and what they are compared with',
      default: 'every-run',
      choices: Object.keys(conventions),
    },
    { flags: '--published', description: 'also print the published results of the paper for these tasks' },
    {
      flags: '--compare <names...>',
      description:
        'compare the second of two agents, or of two experiments, with the first, and test whether they differ beyond noise',
    },
  ],
  details:
    "Success: the final submission improves on the baseline beyond the task's threshold (10 % unless the task says\n" +
    'otherwise). docs/evaluation.md defines every number. The same runs always give the same report, byte for byte.\n' +
    'CSV contains one table: `results`, or the one that --table names. HTML is a single file with plots that needs no server.',
  negative: 'a run could not be read; it is named and left out',
  examples: [
    ['mlab report start-1', 'one experiment'],
    ['mlab report a b --format markdown > report.md', 'two experiments together, with all tables'],
    ['mlab report a --format html > report.html', 'one page with plots, to share'],
    ['mlab report a --compare baseline automl', 'two agents on the same tasks'],
    [
      "mlab report a --compare tools 'react(openai/gpt-5)'",
      'where only one model was used, the name is enough',
    ],
    ['mlab report --compare before after', 'two experiments'],
    ['mlab report a --table curves --format csv', 'hidden score over steps, time, tokens and money'],
    ['mlab report a --convention paper --published', 'by the rules of the paper, with its published results'],
  ],
  async run(context, names, options: Options) {
    const chosen = names.length > 0 ? names : (options.compare ?? []);
    if (chosen.length === 0) {
      throw new UserError('usage', 'Name an experiment.', `mlab runs ls${context.placeFlags} lists them.`);
    }
    refuseTables(options);
    const found = locateRuns(context, chosen, { leavesOutNewer: names.length > 1 });
    refuseBranches(context, found);
    const experiments = [...new Map(found.map(({ experiment }) => [experiment.folder, experiment])).values()];
    const runs = new Set(found.map(({ folder }) => folder.folder));
    const { evaluations, unreadable } = await evaluationsOf(
      { ...context, allCores: true, isWanted: (run) => runs.has(run) },
      experiments,
    );
    const { format, published = false } = options;
    const { tasks } = findTasks(context.folders.tasks);
    const convention = conventions[options.convention];
    // In the browser they are shown on demand.
    const settings = reportOptions(tasks, { convention, published: published || format === 'html' });
    const areAgents = names.length > 0;
    const sides = options.compare === undefined ? null : sidesOf(evaluations, options.compare, areAgents);
    const made = buildReport(evaluations, areAgents ? { ...settings, ...directionOf(sides) } : settings);
    const compared = sides === null ? null : compareRuns(...sides, settings);
    const copied = new Set(
      made.copies?.flatMap(({ experiment, runs: ids }) => ids.map((id) => `${experiment}/${id}`)),
    );
    const further = furtherCostsOf(
      made,
      found.filter(({ experiment, folder }) => !copied.has(`${experiment.name}/${folder.id}`)),
      new Set(
        evaluations.flatMap(({ experiment, run, recording }) =>
          recording === undefined || copied.has(`${experiment}/${run}`) ? [] : [recording],
        ),
      ),
    );
    const incomplete = incompleteRuns(experiments, made);
    const json = {
      ...made,
      ...(incomplete.length === 0 ? {} : { incomplete }),
      ...Object.fromEntries(
        Object.entries(further).filter(([, { money, unpriced }]) => money > 0 || unpriced > 0),
      ),
      ...(compared === null ? {} : { comparison: compared }),
      ...(unreadable.length === 0 ? {} : { unreadable }),
    };
    const exitCode = unreadable.length === 0 ? exitCodes.ok : exitCodes.negative;
    if (format === 'html') {
      const title = [...new Set(experiments.map(({ name }) => name))].join(', ');
      const file = {
        v: 1,
        title,
        mlab: context.version,
        report: made,
        comparison: compared,
        unreadable,
      } as const;
      return { text: reportPage(await viewerPages(context), file), json, exitCode };
    }
    if (format === 'json') return { text: JSON.stringify(json, null, 2), json, exitCode };
    const newer = newerRuns(experiments, unreadable);
    const identities = identityTexts(made, experiments, compared !== null && !areAgents);
    const tables = options.table ?? usualTables(made, format !== 'text');
    return {
      text: textOf(
        format,
        withIncomplete(
          documentOf(made, compared, tables, { unreadable, newer, further, identities }),
          incomplete,
        ),
        options,
      ),
      json,
      exitCode,
    };
  },
};

/** A report of a person's branch would count no run. */
function refuseBranches({ command, placeFlags }: Context, found: ReturnType<typeof locateRuns>): void {
  const branch = found.find(({ experiment, folder }) => !experiment.isPlanned(folder.id));
  if (branch === undefined) return;
  const name = `${branch.experiment.name}/${branch.folder.id}`;
  throw new UserError(
    'not_reported',
    `${name} is a branch that somebody began from a run: reports count the planned runs only.`,
    `See it with: ${command} runs show ${name}${placeFlags}`,
  );
}

/** These formats always contain the whole report. */
function refuseTables({ format, table }: Options): void {
  if (table === undefined || (format !== 'json' && format !== 'html')) return;
  throw new UserError(
    'bad_flag',
    `--table does not work with --format ${format}, which contains the whole report.`,
    'Leave it out, or choose text, markdown, csv or latex.',
  );
}

/** @param counted recordings of the runs of the report */
function furtherCostsOf(
  made: Report,
  found: ReturnType<typeof locateRuns>,
  counted: Set<string>,
): FurtherCosts {
  const costs = [...Map.groupBy(found, ({ experiment }) => experiment)].map(([experiment, runs]) =>
    furtherCosts(
      experiment,
      runs.flatMap(({ folder }) => experiment.specOf(folder.id) ?? []),
      reportedRuns(made, experiment.name),
      counted,
    ),
  );
  const sumOf = (kind: keyof FurtherCosts) => ({
    money: costs.reduce((sum, cost) => sum + cost[kind].money, 0),
    estimated: costs.some((cost) => cost[kind].estimated),
    unpriced: costs.reduce((sum, cost) => sum + cost[kind].unpriced, 0),
  });
  return { discarded: sumOf('discarded'), branches: sumOf('branches'), shared: sumOf('shared') };
}

function textOf(
  format: Exclude<Format, 'json' | 'html'>,
  document: ReportDocument,
  { table, compare: sides }: Options,
) {
  switch (format) {
    case 'text':
      return terminalText(document);
    case 'markdown':
      return markdownText(document).trimEnd();
    case 'latex':
      return latexText(document).trimEnd();
    case 'csv':
      return csvText(
        onlyTable(document, table ?? [sides === undefined ? 'results' : 'comparison']),
      ).trimEnd();
  }
}

function onlyTable({ tables }: ReportDocument, [wanted, another]: readonly string[]): DocumentTable {
  const found = tables.find(({ name }) => name === wanted);
  if (found !== undefined && another === undefined) return found;
  throw new UserError(
    'bad_flag',
    'A CSV file can contain only one table.',
    'Choose one, for example: --table runs',
  );
}

/** The tables show the difference of two agents as the comparison does: the second minus the first. */
function directionOf(sides: readonly ComparedSide[] | null): Pick<ReportOptions, 'direction'> {
  const [before, after] = sides?.map(({ evaluations }) => evaluations[0]?.agent) ?? [];
  return before === undefined || after === undefined ? {} : { direction: [after, before] };
}

/** @param areAgents whether the experiments were named separately from the two sides */
function sidesOf(
  evaluations: readonly RunEvaluation[],
  [a, b, ...more]: readonly string[],
  areAgents: boolean,
): [ComparedSide, ComparedSide] {
  if (a === undefined || b === undefined || more.length > 0) {
    throw new UserError(
      'bad_flag',
      '--compare needs two names.',
      'Put --compare last: mlab report a --compare automl react',
    );
  }
  // An agent that has changed is still compared with itself between two experiments.
  const named = areAgents ? distinctAgents(withoutCopies(evaluations).evaluations) : evaluations;
  const sideOf = (given: string) => {
    const name = areAgents ? given : basename(given);
    const own = named.filter(({ agent, experiment }) => (areAgents ? agent : experiment) === name);
    if (own.length > 0) return { name, evaluations: own };
    const labels = [...new Set(named.map(({ agent }) => agent))];
    const meant = areAgents ? labels.filter((label) => label.replace(/[@(].*/s, '') === name) : [];
    if (meant.length === 1) return { name, evaluations: named.filter(({ agent }) => agent === meant[0]) };
    throw new UserError(
      'unknown_agent',
      meant.length === 0
        ? `None of these runs is of the agent "${name}".`
        : `"${name}" stands for ${meant.length} agents.`,
      `The agents are: ${labels.map(shellWord).join(', ')}.`,
    );
  };
  return [sideOf(a), sideOf(b)];
}
