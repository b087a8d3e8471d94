/** Actions that run the agent's own code. */
const executions: ReadonlySet<string> = new Set(['Execute Script', 'Run Command', 'Python REPL']);

/** Names that outside agents give to their tool for running commands. */
const shells =
  /^(?:bash|sh|shell|terminal|local_shell|shell_command|exec_command|write_stdin|run_command|run_shell_command|execute_bash|execute_ipython_cell)$/i;

/** Several tools in one step of an outside agent are named together. */
export function isExecution(action: string): boolean {
  return executions.has(action) || isShell(action);
}

export function isShell(action: string): boolean {
  return action.split(' + ').some((name) => shells.test(name));
}
