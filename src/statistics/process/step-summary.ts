import { isJsonObject } from '../../lib/json-values.ts';
import { isExecution } from '../executions.ts';
import { describeChange, type FileChange } from './file-change.ts';
import { metricNumbers } from './metric-words.ts';
import type { TranscriptStep } from './run-transcript.ts';
import { editedFile, isEdit } from './steps.ts';
import { tokensOf } from './words.ts';

/** For each part, in characters: the viewer cuts the whole summary. */
const mostOfPart = 300;
/** The result of a command says more than the end of a long command line. */
const mostOfCommand = 40;
/** Lines are searched from the last one. */
const maxLines = 200;
const maxFiles = 2;

type Arguments = TranscriptStep['args'];

/**
 * A step in a few words, which may contain anything that an agent or its scripts wrote:
 * `train.py: LEARNING_RATE 0.002→0.02`, `train.py: validation accuracy 0.871`. The action's name is not included.
 * @param changes of the files that the step changed, as far as they were read
 */
export function summarizeStep(step: TranscriptStep, changes: readonly FileChange[]): string {
  const { action, args, status, observation } = step;
  const isUntaken = status === 'invalid' || status === 'refused' || status === 'closed' || status === 'error';
  if (isUntaken) return observation.slice(0, mostOfPart);
  if (isExecution(action)) return executed(step, changes);
  if (status !== 'ok') return observation.slice(0, mostOfPart);
  if (action === 'Copy File') return `${textOf(args.source)} → ${textOf(args.destination)}`;
  if (changes.length > 0) return changed(step, changes);
  if (isEdit(step)) return `${editedFile(step) ?? ''}: same content`;
  return asked(action, args) || observation.slice(0, mostOfPart);
}

/** What ran, and the most informative part of its output. Commands of outside agents may change scripts, too. */
function executed(step: TranscriptStep, changes: readonly FileChange[]): string {
  const command = mainArgument(step.args);
  const shown = command.length > mostOfCommand ? `${command.slice(0, mostOfCommand)}…` : command;
  const scripts = changes.filter(({ path }) => /\.(?:py|sh|ya?ml|toml)$/.test(path));
  const printedAndEnding = joined(' ', printed(step), failureOf(step));
  const parts = joined('; ', printedAndEnding, scripts.length === 0 ? '' : changed(step, scripts));
  return joined(': ', shown, parts);
}

function joined(separator: string, ...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(separator);
}

/** How it ended, if it failed. */
function failureOf({ exitCode, observation }: TranscriptStep): string {
  if (exitCode !== null) return exitCode === 0 ? '' : `(exit code ${exitCode})`;
  const signal = /\[ended by (\w+), [\d.]+ s\]$/.exec(observation)?.[1];
  if (signal === undefined) return '';
  return signal === 'SIGALRM' ? '(stopped by its own time limit, SIGALRM)' : `(ended by ${signal})`;
}

/** The last line of mlab's observations: the outcome says the same. */
const ending = /^\[(?:exit code|ended by|The (?:script|command|interpreter) was stopped).*\]$/;

/** The last line with a result, else the last one with a word; for a failure the latter, which has the error. */
function printed({ observation, status }: TranscriptStep): string {
  const lines = observation
    .slice(-100 * maxLines)
    .split(/\r\n|\n|\r/)
    .slice(-maxLines)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !ending.test(line));
  const last = lines.findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? lines.at(-1) ?? '';
  const hasFailed = status === 'failed' || /^[\w.]*(?:Error|Exception)\b/.test(last);
  return ((hasFailed ? undefined : lines.findLast(hasResult)) ?? last).slice(0, mostOfPart);
}

function hasResult(line: string): boolean {
  if (line.length > mostOfPart || !/\d/.test(line)) return false;
  return metricNumbers(tokensOf(line)).some(
    ({ metric, number }) => metric !== 'time' && number.suffix !== 'time',
  );
}

function changed(step: TranscriptStep, changes: readonly FileChange[]): string {
  const named = editedFile(step);
  const ordered = [
    ...changes.filter(({ path }) => path === named),
    ...changes.filter(({ path }) => path !== named),
  ];
  const more = ordered.length - maxFiles;
  const count = step.changedCount > step.changed.length ? 'many' : more;
  const described = ordered.slice(0, maxFiles).map((change) => describeChange(change).slice(0, mostOfPart));
  return described.join('; ') + (more > 0 ? ` and ${count} more ${more === 1 ? 'file' : 'files'}` : '');
}

/** What the agent wanted to see or say. */
function asked(action: string, args: Arguments): string {
  const main = mainArgument(args);
  switch (action) {
    case 'Inspect Script Lines':
      return `${main}, lines ${textOf(args.start_line_number)}–${textOf(args.end_line_number)}`;
    case 'Understand File':
      return `${main}: ${textOf(args.things_to_look_for)}`;
    case 'List Files':
      return main === '.' ? 'the workspace' : main;
    case 'Search Files':
      return joined(' in ', main, args.dir_path === '.' ? '' : textOf(args.dir_path));
    default:
      return main;
  }
}

const mainNames =
  /^(?:command|cmd|script|code|(?:target_?)?(?:absolute_?)?(?:file|dir|script|notebook)?_?(?:path|name)|pattern|query|url)$/i;

/**
 * The most informative argument: a command, a path, a pattern, else the first text. For several calls: that of each.
 */
function mainArgument(args: Arguments): string {
  const { calls } = args;
  if (Array.isArray(calls)) return calls.slice(0, 5).flatMap(callText).join('; ').slice(0, mostOfPart);
  const entries = Object.entries(args);
  const [, value] =
    entries.find(([name]) => mainNames.test(name)) ??
    entries.find(([, candidate]) => typeof candidate === 'string') ??
    [];
  return textOf(value);
}

function callText(call: unknown): string[] {
  if (!isJsonObject(call)) return [];
  const input = isJsonObject(call.input) ? mainArgument(call.input) : textOf(call.input);
  return [`${textOf(call.name)} ${input}`.trim()];
}

/** The first line of a text; for a command given in parts, its shell script. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) {
    const parts = value.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
    const isShell = parts.length === 3 && /^-\w*c$/.test(parts[1] ?? '');
    return textOf(isShell ? parts[2] : parts.join(' '));
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [first = ''] = text
    .slice(0, 10 * mostOfPart)
    .trimStart()
    .split('\n', 1);
  return first.trim().slice(0, mostOfPart);
}
