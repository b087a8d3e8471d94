import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../lib/hash.ts';
import { type BranchId, Decision, type TextRef, type TraceEvent } from '../schema/index.ts';
import { createFileExclusively, parseStoredText, readTextIfThere } from './documents.ts';
import type { RunFolder } from './run-folder.ts';

/** An action for a person to decide on. */
export interface Proposal {
  branch: BranchId;
  /** The number that the step will have. */
  step: number;
  action: string;
  /** The arguments as JSON text. */
  args: string;
}

/**
 * The file name of a decision. It identifies this action at this step, so that nobody decides on an action that they
 * have not seen.
 */
export function decisionName({ branch, step, action, args }: Proposal): string {
  return `${branch}-${step}-${sha256(JSON.stringify([action, args])).slice(0, 16)}`;
}

/**
 * Null while there is no decision.
 * @throws UserError `broken_file`
 */
export function readDecision({ folder }: RunFolder, name: string): Decision | null {
  const path = pathOf(folder, name);
  const text = readTextIfThere(path);
  return text === null ? null : parseStoredText(Decision, text, path);
}

/** Whether somebody has decided, without reading what. */
export function isDecided({ folder }: RunFolder, name: string): boolean {
  return existsSync(pathOf(folder, name));
}

/** Writes a decision, atomically and permanently. False if somebody else has decided. */
export function addDecision({ folder }: RunFolder, name: string, decision: Decision): boolean {
  return createFileExclusively(pathOf(folder, name), `${JSON.stringify(Decision.parse(decision))}\n`);
}

/** The latest proposed action of each branch, if it was neither decided on nor performed. */
export function openProposals(events: Iterable<TraceEvent>, textOf: (ref: TextRef) => string): Proposal[] {
  const open = new Map<BranchId, Proposal>();
  for (const event of events) {
    const { branch = 'main' } = 'branch' in event ? event : {};
    if (event.kind === 'action_proposed') {
      const { step, action } = event;
      open.set(branch, { branch, step, action, args: textOf(event.args) });
    }
    if (event.kind === 'action_decided') open.delete(branch);
    if (event.kind === 'run_ended') open.clear();
  }
  return [...open.values()];
}

function pathOf(folder: string, name: string): string {
  return join(folder, 'decisions', `${name}.json`);
}
