import type { ReportRun, RunEvaluation, RunRecord, RunSpec } from '../../../schema/index.ts';
import type { Row } from './columns.ts';

/** Everything about a run: its plan, its record if it has begun, and its figures as in reports. */
export interface KnownRun {
  spec: RunSpec;
  record: RunRecord | null;
  evaluation: RunEvaluation;
  line: ReportRun;
}

export function runRow({ spec, record, evaluation, line }: KnownRun): Row<'runs'> {
  const { experiment, run, task, agent, seed, status, outcome, end, best } = line;
  const { parent } = spec;
  return {
    ...{ experiment, run, task, agent, seed, status, outcome },
    ...{ agent_name: spec.agent, agent_options: JSON.stringify(spec.agent_options), model: spec.model },
    sandbox: spec.sandbox,
    parent: parent === undefined ? null : `${parent.experiment}/${parent.run}`,
    parent_step: parent?.step ?? null,
    ...{ started: record?.started ?? null, updated: record?.updated ?? null },
    ...{ end: end?.reason ?? null, end_cause: end?.cause ?? null, end_message: end?.message ?? null },
    ...resultPart(evaluation, line),
    ...{ best_step: best?.step ?? null, best_score: best?.score ?? null },
    best_improvement: best?.improvement ?? null,
    ...usePart(evaluation, line),
    ...{ flags: line.flags, errors: line.errors, caveats: line.caveats },
  };
}

function resultPart({ grades, scoring_reference: reference }: RunEvaluation, line: ReportRun) {
  const { score, baseline, improvement, normalised, success, significant, stale } = line;
  return {
    valid: grades.findLast(({ final }) => final)?.valid ?? null,
    ...{ score, baseline, improvement, normalised, success, significant, stale },
    ...{ direction: reference?.direction ?? null, threshold: reference?.threshold ?? null },
  };
}

function usePart({ efficiency }: RunEvaluation, line: ReportRun) {
  const { agent, tools } = efficiency.tokens;
  const { wall, model, execution, overhead, waiting } = efficiency.seconds;
  return {
    ...{ steps: line.steps, seconds: wall, model_seconds: model, execution_seconds: execution },
    ...{ overhead_seconds: overhead, waiting_seconds: waiting, cpu_seconds: efficiency.cpu_seconds },
    ...{ gpu_seconds: efficiency.gpu_seconds, peak_memory_bytes: efficiency.peak_memory_bytes },
    ...{ model_calls: agent.calls + tools.calls, tokens: line.tokens, money: line.money },
    ...{ prompt_tokens: agent.prompt + tools.prompt, cached_tokens: agent.cached + tools.cached },
    completion_tokens: agent.completion + tools.completion,
    reasoning_tokens: agent.reasoning + tools.reasoning,
    tokens_estimated: line.tokens_estimated,
  };
}
