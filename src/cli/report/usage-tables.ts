import type { Report, ReportRow, RunGroup } from '../../schema/index.ts';
import { approximate, bytes, costField, detail, money, quantity, seconds, words } from './cells.ts';
import { define } from './define-table.ts';

export const efficiency = define<ReportRow>({
  title: 'What runs used',
  note: 'Means of a run. Prompt tokens include cached ones, completion tokens include reasoning; tokens of actions: of models that actions called. ≈: some of them are estimated, as the provider did not count them. Waiting for providers counts against no limit and is not part of the time.',
  rows: ({ rows }) => rows.filter((row) => row.efficiency !== null),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('steps', 'steps', ({ efficiency: e }) => e?.steps ?? null),
    approximate(
      quantity('agent_prompt_tokens', 'prompt', ({ efficiency: e }) => e?.tokens.agent.prompt ?? null),
      ({ efficiency: e }) => e !== null && e.tokens.agent.estimated > 0,
    ),
    quantity('agent_cached_tokens', 'cached', ({ efficiency: e }) => e?.tokens.agent.cached ?? null),
    approximate(
      quantity(
        'agent_completion_tokens',
        'completion',
        ({ efficiency: e }) => e?.tokens.agent.completion ?? null,
      ),
      ({ efficiency: e }) => e !== null && e.tokens.agent.estimated > 0,
    ),
    quantity('agent_reasoning_tokens', 'reasoning', ({ efficiency: e }) => e?.tokens.agent.reasoning ?? null),
    approximate(
      quantity('tools_tokens', 'tokens of actions', ({ efficiency: e }) =>
        e === null ? null : e.tokens.tools.prompt + e.tokens.tools.completion,
      ),
      ({ efficiency: e }) => e !== null && e.tokens.tools.estimated > 0,
    ),
    detail(
      quantity('estimated_tokens', 'estimated', ({ efficiency: e }) =>
        e === null ? null : estimatedTokens(e),
      ),
    ),
    approximate(
      costField(({ efficiency: e }) => e),
      hasEstimates,
    ),
    quantity('seconds', 'time', ({ efficiency: e }) => e?.seconds.wall ?? null, seconds),
    quantity('model_seconds', 'model', ({ efficiency: e }) => e?.seconds.model ?? null, seconds),
    quantity('execution_seconds', 'execution', ({ efficiency: e }) => e?.seconds.execution ?? null, seconds),
    quantity('overhead_seconds', 'overhead', ({ efficiency: e }) => e?.seconds.overhead ?? null, seconds),
    quantity('waiting_seconds', 'waiting', ({ efficiency: e }) => e?.seconds.waiting ?? null, seconds),
    quantity('cpu_seconds', 'CPU', ({ efficiency: e }) => e?.cpu_seconds ?? null, seconds),
    quantity('gpu_seconds', 'GPU', ({ efficiency: e }) => e?.gpu_seconds ?? null, seconds),
    detail(
      quantity(
        'gpu_held_seconds',
        'GPUs held',
        ({ efficiency: e }) => e?.gpus?.held_seconds ?? null,
        seconds,
      ),
    ),
    detail(
      quantity(
        'gpu_busy_seconds',
        'GPUs busy',
        ({ efficiency: e }) => e?.gpus?.busy_seconds ?? null,
        seconds,
      ),
    ),
    detail(
      quantity(
        'gpu_peak_memory_bytes',
        'peak GPU memory',
        ({ efficiency: e }) => e?.gpus?.peak_memory_bytes ?? null,
        bytes,
      ),
    ),
    quantity('peak_memory_bytes', 'peak memory', ({ efficiency: e }) => e?.peak_memory_bytes ?? null, bytes),
    quantity('success_per_dollar', 'successes per $', ({ efficiency: e }) => e?.success_per_dollar ?? null),
    quantity('success_per_hour', 'successes per hour', ({ efficiency: e }) => e?.success_per_hour ?? null),
  ],
});

interface ModelRow {
  agent: string;
  model: string;
  runs: number;
  calls: number;
  tokens: number;
  estimated: number;
  money: number | null;
}

const isGuessed = ({ estimated }: ModelRow) => estimated > 0;

export const models = define<ModelRow>({
  title: 'Cost by model',
  note: 'Sums over runs. A fork counts the calls before it, which its parent made. ≈: some tokens are estimated.',
  rows: ({ runs }) => usesOf(runs),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    words('model', 'model', ({ model }) => model),
    quantity('runs', 'runs', ({ runs }) => runs),
    quantity('calls', 'calls', ({ calls }) => calls),
    approximate(
      quantity('tokens', 'tokens', ({ tokens }) => tokens),
      isGuessed,
    ),
    detail(quantity('estimated_tokens', 'estimated', ({ estimated }) => estimated)),
    approximate(
      quantity('money', 'cost', (use) => use.money, money),
      isGuessed,
    ),
  ],
});

function usesOf(runs: Report['runs']): ModelRow[] {
  const uses = new Map<string, ModelRow>();
  for (const { agent, models: used = [] } of runs)
    for (const { model, calls, tokens, estimated = 0, money: cost } of used) {
      const key = `${agent} ${model}`;
      const sum = uses.get(key) ?? { agent, model, runs: 0, calls: 0, tokens: 0, estimated: 0, money: 0 };
      uses.set(key, {
        ...{ agent, model, runs: sum.runs + 1, calls: sum.calls + calls, tokens: sum.tokens + tokens },
        estimated: sum.estimated + estimated,
        money: sum.money === null || cost === null ? null : sum.money + cost,
      });
    }
  return [...uses.values()];
}

/** Whether some of its tokens, and so its cost, are estimates. */
export function hasEstimates({ efficiency }: RunGroup): boolean {
  return efficiency !== null && estimatedTokens(efficiency) > 0;
}

function estimatedTokens({ tokens }: NonNullable<RunGroup['efficiency']>): number {
  return tokens.agent.estimated + tokens.tools.estimated;
}
