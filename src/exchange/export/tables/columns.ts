/** The content of a column's cells. `time` is in milliseconds since 1970. */
export type ColumnKind = 'text' | 'integer' | 'number' | 'boolean' | 'time' | 'texts';

interface CellOf {
  text: string;
  integer: number;
  number: number;
  boolean: boolean;
  time: number;
  texts: readonly string[];
}

export type Cell = CellOf[ColumnKind] | null;
export type Columns = Readonly<Record<string, ColumnKind>>;

/**
 * The tables and their columns, as described in docs/how-to/analyse-results.md: order, type and name for every format.
 * Names that also occur in `mlab runs ls --json` have the same meaning there.
 */
export const tables = {
  runs: {
    ...{ experiment: 'text', run: 'text', task: 'text', agent: 'text' },
    ...{ agent_name: 'text', agent_options: 'text', model: 'text', seed: 'integer', sandbox: 'text' },
    ...{ parent: 'text', parent_step: 'integer' },
    ...{ status: 'text', started: 'time', updated: 'time' },
    ...{ end: 'text', end_cause: 'text', end_message: 'text', outcome: 'text' },
    ...{ valid: 'boolean', score: 'number', baseline: 'number', direction: 'text', threshold: 'number' },
    ...{ improvement: 'number', normalised: 'number', success: 'boolean', significant: 'boolean' },
    ...{ best_step: 'integer', best_score: 'number', best_improvement: 'number', stale: 'boolean' },
    ...{ steps: 'integer', seconds: 'number', model_seconds: 'number', execution_seconds: 'number' },
    ...{ overhead_seconds: 'number', waiting_seconds: 'number', cpu_seconds: 'number' },
    ...{ gpu_seconds: 'number', peak_memory_bytes: 'number' },
    ...{ model_calls: 'integer', tokens: 'integer', prompt_tokens: 'integer', cached_tokens: 'integer' },
    ...{ completion_tokens: 'integer', reasoning_tokens: 'integer', tokens_estimated: 'integer' },
    ...{ money: 'number', flags: 'texts', errors: 'texts', caveats: 'texts' },
  },
  steps: {
    ...{ experiment: 'text', run: 'text', branch: 'text', in_history: 'boolean', step: 'integer' },
    ...{ action: 'text', args: 'text', proposed_action: 'text', proposed_args: 'text', actor: 'text' },
    ...{ status: 'text', exit_code: 'integer' },
    ...{ started: 'time', finished: 'time', duration_ms: 'number', seconds_used: 'number' },
    ...{ tokens_used: 'integer', money_used: 'number', cpu_seconds: 'number', peak_memory_bytes: 'number' },
    ...{ changed: 'integer', submission: 'boolean', stale: 'boolean', valid: 'boolean', score: 'number' },
    ...{ observation: 'text' },
  },
  grades: {
    ...{ experiment: 'text', run: 'text', branch: 'text', in_history: 'boolean', step: 'integer' },
    ...{ final: 'boolean', time: 'time', valid: 'boolean', score: 'number', baseline: 'number' },
    ...{ direction: 'text', threshold: 'number', improvement: 'number', stale: 'boolean' },
    ...{ problems: 'texts', details: 'text', seconds: 'number', caveats: 'texts' },
  },
  calls: {
    ...{ experiment: 'text', run: 'text', branch: 'text', call: 'integer', step: 'integer', time: 'time' },
    ...{ role: 'text', purpose: 'text', model: 'text', answered_by: 'text', temperature: 'number' },
    ...{ max_output_tokens: 'integer', prompt_tokens: 'integer', cached_tokens: 'integer' },
    ...{ cache_write_tokens: 'integer', completion_tokens: 'integer', reasoning_tokens: 'integer' },
    ...{ estimated: 'boolean', cost: 'number', latency_ms: 'number', waiting_ms: 'number' },
    ...{ failed_attempts: 'integer', failure: 'text', failure_message: 'text', inherited: 'boolean' },
  },
} as const satisfies Readonly<Record<string, Columns>>;

export type TableName = keyof typeof tables;
export const tableNames: readonly TableName[] = ['runs', 'steps', 'grades', 'calls'];

/** A row has every column. */
export type Row<Name extends TableName> = {
  [Column in keyof (typeof tables)[Name]]:
    | ((typeof tables)[Name][Column] extends infer Kind extends ColumnKind ? CellOf[Kind] : never)
    | null;
};
export type AnyRow = Readonly<Record<string, Cell>>;

/** A table that is being written to a file. */
export interface TableWriter {
  add(rows: readonly AnyRow[]): Promise<void>;
  /** Writes what is left. Without it, a file is incomplete. */
  finish(): Promise<void>;
}
