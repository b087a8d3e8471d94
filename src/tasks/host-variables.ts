/** Environment variables as Node hands them out. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Would make a Python of ours look, or pip install, somewhere else. */
const misleading =
  /^(PYTHON\w*|VIRTUAL_ENV|__PYVENV_LAUNCHER__|PIP_(TARGET|PREFIX|USER|ROOT|DRY_RUN|REQUIREMENT))$/;

/** Those variables with which Python and pip may run on the host: all but the misleading ones. */
export function pythonVariables(variables: Variables): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && !misleading.test(name)) kept[name] = value;
  }
  return kept;
}
