import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ObjectId, RunSpec } from '../../schema/index.ts';
import { restoreSnapshot } from '../../store/index.ts';
import { writeLoggedCall } from '../original/call-log.ts';
import { ownLogEntry } from '../original/original-run.ts';
import { originalTaskName } from '../task-names.ts';
import { yieldToSignals } from '../yield-to-signals.ts';
import type { AskedModel, BegunRun, ExportedRun, ExportedStep } from './exported-run.ts';

/**
 * The places of an export's runs, by their ids: `<model>/<task>/<run>`, the original's layout. Several agents with one
 * model are told apart: `<model>-<agent>`, with a number if they differ in their options alone.
 */
export function originalPlaces(runs: readonly BegunRun[]): Map<string, string> {
  const taken = new Set<string>();
  const places = new Map<string, string>();
  const names = namesOf(runs);
  for (const { folder, record } of runs) {
    const { task, seed } = record.spec;
    const who = names.get(identityOf(record.spec)) ?? '';
    const wanted = join(who, originalTaskName(task), String(seed));
    let place = wanted;
    for (let number = 2; taken.has(place); number += 1) place = `${wanted}-${number}`;
    taken.add(place);
    places.set(folder.id, place);
  }
  return places;
}

/** A name for each distinct agent, by what it is. */
function namesOf(runs: readonly BegunRun[]): Map<string, string> {
  const specs = [...new Map(runs.map(({ record: { spec } }) => [identityOf(spec), spec])).entries()];
  const short = ({ model, agent }: RunSpec) => fileName(model === null ? agent : plainModel(model));
  const counts = Map.groupBy(specs, ([, spec]) => short(spec));
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [identity, spec] of specs) {
    const isAlone = counts.get(short(spec))?.length === 1;
    const wanted = isAlone ? short(spec) : fileName([spec.model ?? '', spec.agent].filter(Boolean).join('-'));
    let name = wanted;
    for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
    taken.add(name);
    names.set(identity, name);
  }
  return names;
}

function identityOf({ agent, model, agent_options: options }: RunSpec): string {
  return JSON.stringify([agent, model, options]);
}

function fileName(text: string): string {
  return text.replaceAll(/[^\w.-]+/g, '-');
}

/**
 * Writes one run in the original's log format, with its workspaces without repositories, see `withoutRepositories`.
 * @param folder need not exist
 */
export async function writeLogFolder(
  run: ExportedRun,
  folder: string,
  signal: AbortSignal,
): Promise<{ leftOut: string[] }> {
  const environment = join(folder, 'env_log');
  for (const inner of ['tool_logs', 'traces']) mkdirSync(join(environment, inner), { recursive: true });
  mkdirSync(join(folder, 'agent_log'), { recursive: true });
  writeFileSync(join(environment, 'trace.json'), JSON.stringify(traceOf(run), null, 4));
  for (const [path, text] of logsOf(run)) writeFileSync(join(folder, path), text);
  writeEnd(run, environment);
  const leftOut = new Set<string>();
  const restore = async (snapshot: ObjectId, place: string) => {
    const restored = await restoreSnapshot(run.folder.objects, snapshot, place, {
      withoutRepositories: true,
      signal,
    });
    for (const path of restored.leftOut) leftOut.add(path);
  };
  for (const { step, finished } of run.steps) {
    await yieldToSignals(signal);
    const place = join(environment, 'traces', `step_${step - 1}_files`);
    await restore(finished.snapshot, place);
  }
  const last = run.end?.snapshot ?? null;
  if (last !== null) await restore(last, join(environment, 'traces', 'step_final_files'));
  return { leftOut: [...leftOut].sort() };
}

function traceOf({ steps, problem }: ExportedRun) {
  return {
    steps: steps.map(({ action, args, observation, finished }) => ({
      action: { name: action, args },
      observation,
      timestamp: finished.time / 1000,
    })),
    low_level_steps: steps.flatMap(({ inner }) =>
      inner.map(({ action, args, observation, time }) => ({
        action: { name: action, args },
        observation,
        timestamp: time / 1000,
      })),
    ),
    action_infos: {},
    task_description: problem,
  };
}

/** The texts of all logs by their paths. */
function logsOf(run: ExportedRun): Map<string, string> {
  const logs = new Map<string, string>();
  const add = (path: string, text: string) => logs.set(path, (logs.get(path) ?? '') + text);
  add('agent_log/main_log', `Research Problem: ${run.problem}\n`);
  const numbers = turnNumbers(run.steps);
  let number = 0;
  for (const [index, { step, before, calls, observation }] of run.steps.entries()) {
    number = numbers[index] ?? number;
    for (const aside of before) {
      if (aside.kind !== 'call') continue;
      // Summaries come before the agent's next call, and belong to the previous turn; its log entry has the same
      // number.
      add(`agent_log/step_${number}_${agentLogName(aside)}.log`, loggedCall(aside));
      if (aside.event.role === 'agent') add('agent_log/main_log', `Step ${number}:\n${aside.answer ?? ''}\n`);
    }
    add('agent_log/main_log', `Observation:\n\`\`\`\n${observation}\n\`\`\`\n\n`);
    for (const call of calls) add(`env_log/tool_logs/step_${step - 1}_tool_log.log`, loggedCall(call));
  }
  for (const aside of run.after)
    if (aside.kind === 'call')
      add(`agent_log/step_${number + 1}_${agentLogName(aside)}.log`, loggedCall(aside));
  return logs;
}

/**
 * The number of the turn of each step. The agent's own entry in its log gives it, for the steps up to it; without such
 * a log, every call of the agent's model begins a turn.
 */
function turnNumbers(steps: readonly ExportedStep[]): number[] {
  const said = steps.map((step) => ownLogEntry(asOriginal(step)));
  if (said.some((number) => number !== null)) {
    let next = (said.findLast((number) => number !== null) ?? -1) + 1;
    return said
      .toReversed()
      .map((number) => {
        next = number ?? next;
        return next;
      })
      .reverse();
  }
  let number = -1;
  return steps.map(({ before }) => {
    if (before.some((aside) => aside.kind === 'call' && aside.event.role === 'agent')) number += 1;
    return Math.max(0, number);
  });
}

function asOriginal({ action, args, observation, finished }: ExportedStep) {
  return {
    action: { name: action, args: z.json().parse(args) },
    observation,
    timestamp: finished.time / 1000,
  };
}

function agentLogName({ event: { role, purpose } }: AskedModel): string {
  if (role === 'agent') return 'log';
  return purpose === 'summarise an observation' ? 'summarize_observation_log' : 'summary_log';
}

function loggedCall({ event, messages, answer }: AskedModel): string {
  return writeLoggedCall({
    prompt: messages()
      .map(({ text }) => text)
      .join('\n\n'),
    completion: answer ?? '',
    model: plainModel(event.model),
    max_tokens: event.max_output_tokens,
    prompt_tokens: event.usage.input,
    sampled_tokens: event.usage.output,
  });
}

/** Without the provider. */
function plainModel(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}

function writeEnd({ record, end }: ExportedRun, environment: string): void {
  if (end === null) return;
  writeFileSync(join(environment, 'overall_time.txt'), String(record.seconds_used));
  const name = { context_limit: 'TooLongPromptError', infrastructure_error: 'Error', agent_error: 'Error' };
  const known = Object.entries(name).find(([reason]) => reason === end.reason)?.[1];
  if (known !== undefined) writeFileSync(join(environment, 'error.txt'), errorText(known, end.message));
}

function errorText(name: string, message: string): string {
  return /^[\w.]+(?:Error|Exception)\b/.test(message) ? message : `${name}: ${message}`;
}
