import type { UndoEntry } from '../schema/index.ts';

/** Brings the stack of undo entries (oldest first) up to date with what one step added and used up. */
export function updateUndoStack(stack: UndoEntry[], step: { undo?: UndoEntry[]; undone?: string[] }): void {
  for (const path of step.undone ?? []) {
    const index = stack.findLastIndex((entry) => entry.path === path);
    if (index >= 0) stack.splice(index, 1);
  }
  stack.push(...(step.undo ?? []));
}
