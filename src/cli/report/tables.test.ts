import { expect, test } from 'vitest';
import { evaluation } from '../../../test/fixtures/evaluations.ts';
import { buildReport } from '../../statistics/index.ts';
import { reportTables } from './tables.ts';

/** Of the first row, the texts of some columns, and what machines get. */
function cellsOf(name: 'runs' | 'efficiency' | 'results', estimated: number, columns: readonly string[]) {
  const run = evaluation();
  run.efficiency.tokens.agent.estimated = estimated;
  const table = reportTables[name](name, buildReport([run], { resamples: 10 }));
  const row = table.rows[0] ?? [];
  return columns.map((column) => row[table.columns.findIndex((one) => one.name === column)]);
}

test('tokens that no provider counted, and what they cost, are marked', () => {
  for (const [name, tokens] of [
    ['runs', ['tokens', 'estimated_tokens', 'money']],
    ['efficiency', ['agent_prompt_tokens', 'agent_completion_tokens', 'money']],
    ['results', ['money']],
  ] as const) {
    for (const cell of cellsOf(name, 0, tokens)) expect(cell?.text).not.toContain('≈');
    const marked = cellsOf(name, 60, tokens).filter((_, index) => tokens[index] !== 'estimated_tokens');
    for (const cell of marked) expect(cell?.text).toMatch(/^≈ [\d$]/);
    for (const cell of marked) expect(typeof cell?.value).toBe('number');
  }
  expect(cellsOf('runs', 60, ['estimated_tokens'])[0]?.value).toBe(60);
});
