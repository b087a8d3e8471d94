/** What a task's author can do about a module that a script or a grader did not find; null if none is missing. */
export function missingPackageHint(printed: string): string | null {
  const [, module] = /ModuleNotFoundError: No module named '([^'.]+)/.exec(printed) ?? [];
  return module === undefined
    ? null
    : `If ${module} comes from a package, list this package in requirements.txt of the task: only what it lists is installed.`;
}

/** The text, with the hint in a line of its own. */
export function withPackageHint(printed: string): string {
  const hint = missingPackageHint(printed);
  return hint === null || printed.includes(hint) ? printed : `${printed}\n${hint}`;
}
