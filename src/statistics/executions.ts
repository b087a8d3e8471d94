/** Actions that run the agent's own code. */
const executions: ReadonlySet<string> = new Set(['Execute Script', 'Run Command', 'Python REPL']);

export function isExecution(action: string): boolean {
  return executions.has(action);
}
