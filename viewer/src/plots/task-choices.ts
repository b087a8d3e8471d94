export const everyTask = 'every task';

/** The tasks of a report to choose from, and all of them together. */
export function taskChoices(tasks: readonly string[], together = true): Record<string, { title: string }> {
  return {
    ...(together ? { [everyTask]: { title: 'all tasks together' } } : {}),
    ...Object.fromEntries(tasks.map((task) => [task, { title: task }])),
  };
}
