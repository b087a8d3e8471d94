import type { UndoEntry } from '../schema/index.ts';

/** Updates the stack of undo entries (oldest first) with those that one step added and used. */
export function updateUndoStack(stack: UndoEntry[], step: { undo?: UndoEntry[]; undone?: string[] }): void {
  for (const path of step.undone ?? []) {
    const index = stack.findLastIndex((entry) => entry.path === path);
    if (index >= 0) stack.splice(index, 1);
  }
  stack.push(...(step.undo ?? []));
}
