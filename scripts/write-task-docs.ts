/**
 * Writes the generated part of docs/tasks.md from the task files: `npm run node scripts/write-task-docs.ts`.
 * A test fails while it is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { improvement } from '../src/statistics/index.ts';
import { findTasks, suites, type Task } from '../src/tasks/index.ts';

const root = join(import.meta.dirname, '..');
export const docsFile = join(root, 'docs/tasks.md');
const begin = '<!-- generated: begin (npm run node scripts/write-task-docs.ts) -->';
const end = '<!-- generated: end -->';

/** The page with its generated part renewed. */
export function renewed(page: string): string {
  const [before = '', rest = ''] = page.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`${docsFile} has lost the marks of its generated part`);
  const { tasks, problems } = findTasks([join(root, 'tasks')]);
  if (problems.length > 0) throw new Error(`${problems[0]?.file}: ${problems[0]?.message}`);
  const parts = ['## Suites', suiteTable(tasks), '## Figures', figureTable(tasks), ...tasks.map(section)];
  return `${before}${begin}\n\n${parts.join('\n\n')}\n\n${end}${after}`;
}

function suiteTable(tasks: readonly Task[]): string {
  const rows = [...suites(tasks)].map(([name, members]) => [
    `\`${name}\``,
    String(members.length),
    members.map(({ file: { id } }) => link(id)).join(', '),
  ]);
  return table(['suite', 'tasks', 'which'], rows);
}

interface Figures {
  mean: number;
  spread: number;
  seeds: number;
  seconds: number;
}

function figureTable(tasks: readonly Task[]): string {
  const rows = tasks.flatMap(({ file }) => {
    const { id, metric, baseline, reference, sample, success, data } = file;
    const arrow = metric.direction === 'maximize' ? '↑' : '↓';
    const row = (on: string, start: Figures, best: Figures) => [
      link(id),
      `${metric.name} ${arrow}`,
      on,
      plusMinus(start),
      noise(start),
      plusMinus(best),
      gain(start, best, metric.direction),
      percent(success.threshold),
      `${seconds(start)}, ${seconds(best)}`,
    ];
    const standIn = data?.measured_on;
    const isMadeUp = standIn !== undefined && Object.keys(standIn.sha256).length === 0;
    return [
      ...(isMadeUp ? [] : [row(standIn === undefined ? 'the data' : 'a stand-in', baseline, reference)]),
      ...(sample === undefined ? [] : [row('sample', sample.baseline, sample.reference)]),
    ];
  });
  const titles = ['task', 'metric', 'measured on', 'baseline', 'noise', 'reference', 'improvement'];
  return table([...titles, 'success beyond', 'seconds'], rows);
}

function section({ file, variant }: Task): string {
  const { id, title, summary, data, sources, baseline, reference, sample, resources } = file;
  const published = file.paper.map(({ agent, success_rate, improvement: gained }) => {
    const more = gained === undefined ? '' : ` (mean improvement ${gained} %)`;
    return `${agent} ${success_rate} %${more}`;
  });
  const origin = sources.map(({ file: name, url, kaggle, collection, licence, sha256, optional }) => {
    const hosts = collection?.hosts.join(' and ');
    const place =
      url ?? (hosts === undefined ? `Kaggle competition \`${kaggle}\`` : `${hosts}, file by file`);
    const checked = sha256 === undefined ? 'no checksum is known' : 'checked by SHA-256';
    return `\`${name}\`${optional ? ' (optional)' : ''} from ${place}, ${checked}. ${licence}`;
  });
  const facts = [
    ['Source', origin.length === 0 ? `no download. ${data?.licence ?? ''}`.trim() : origin.join(' ')],
    ['Size', data?.size],
    ['Split', data?.split],
    ['Measured on', data?.measured_on?.what],
    ['Sample', sample?.description],
    ['Baseline', `${baseline.description} Measured on ${baseline.machine}.`],
    ["The starter's noise", baseline.remedy],
    ['Reference', reference.description],
    ['GPU', resources.gpu === 'none' ? undefined : resources.gpu],
    ['Baseline of the paper', baseline.paper && `${rounded(baseline.paper.value)}. ${baseline.paper.note}`],
    ['Success rates of the paper', published.length === 0 ? undefined : published.join(', ')],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined ? [] : [`- **${name}:** ${value}`]));
  const kind = variant === null ? '' : ' (variant)';
  return `### ${id}\n\n${title}${kind}. ${summary}\n\n${lines.join('\n')}`;
}

function link(id: string): string {
  return `[${id}](#${id})`;
}

function plusMinus({ mean, spread, seeds }: Figures): string {
  return `${rounded(mean)} ± ${rounded(spread)} (${seeds})`;
}

/** The spread in per cent of the mean. */
function noise({ mean, spread }: Figures): string {
  return mean === 0 ? '–' : percent(spread / Math.abs(mean));
}

function gain(start: Figures, best: Figures, direction: 'maximize' | 'minimize'): string {
  const value = improvement(best.mean, start.mean, direction);
  return value === null ? '–' : percent(value);
}

function percent(fraction: number): string {
  return `${Number((100 * fraction).toPrecision(fraction < 0.01 ? 1 : 3))} %`;
}

function rounded(value: number): string {
  if (Math.abs(value) >= 1e6) return value.toExponential();
  return String(Number(value.toPrecision(4)));
}

function seconds({ seconds: value }: Figures): string {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(docsFile, renewed(readFileSync(docsFile, 'utf8')));
}
