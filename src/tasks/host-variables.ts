/** Environment variables, typed as in Node. */
export type HostVariables = Readonly<Record<string, string | undefined>>;

/** These would make our Python look for modules, or pip install them, somewhere else. */
const misleading =
  /^(PYTHON\w*|VIRTUAL_ENV|__PYVENV_LAUNCHER__|PIP_(TARGET|PREFIX|USER|ROOT|DRY_RUN|REQUIREMENT))$/;

/** The variables for running Python and pip on the host: all but the misleading ones. */
export function pythonVariables(variables: HostVariables): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && !misleading.test(name)) kept[name] = value;
  }
  return kept;
}
