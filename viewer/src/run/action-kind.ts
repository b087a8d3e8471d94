export const actionKinds = ['read', 'edit', 'execute', 'think', 'finish', 'other'] as const;
export type ActionKind = (typeof actionKinds)[number];

export const kindWords: Record<ActionKind, string> = {
  read: 'reads',
  edit: 'edits',
  execute: 'executes',
  think: 'notes and thinks',
  finish: 'validates, submits',
  other: 'other',
};

const patterns: readonly [RegExp, ActionKind][] = [
  [/final answer|submission|submit/, 'finish'],
  [/research log|reflection|help|think|plan|todo|^reply$/, 'think'],
  [/exec|run|\brepl\b|command|shell|bash|terminal/, 'execute'],
  [/edit|write|append|copy|undo|replace|delete|move|patch/, 'edit'],
  [/read|list|inspect|understand|retriev|search|view|grep|glob|^ls$/, 'read'],
];

/** The purpose of an action, by its name: agents and imported runs have their own names. */
export function actionKind(action: string): ActionKind {
  const name = action.toLowerCase().replaceAll(/[_-]/g, ' ');
  return patterns.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}
