export const everyTask = 'every task';

/** The tasks of a report, and all of them together, to choose from. */
export function taskChoices(tasks: readonly string[], together = true): Record<string, { title: string }> {
  return {
    ...(together ? { [everyTask]: { title: 'all tasks together' } } : {}),
    ...Object.fromEntries(tasks.map((task) => [task, { title: task }])),
  };
}
