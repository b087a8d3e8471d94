import type { Sandbox } from '../sandbox/index.ts';
import type { BranchId, ModelRequest, ObjectId } from '../schema/index.ts';
import type { Lineage, Snapshotter } from '../store/index.ts';
import type { ToolReply } from './tool-access.ts';

/** The files of one branch, and the sandbox for its commands. Closing it keeps the files. */
export interface BranchPlace extends AsyncDisposable {
  /** Host folders: the workspace, and outputs too long for an observation. */
  folders: { workspace: string; outputs: string };
  sandbox: Sandbox;
  snapshotter: Snapshotter;
  /** Closes it and removes the workspace. */
  discard(): Promise<void>;
}

/** Where a branch begins, or is resumed. */
export interface BranchStart {
  step: number;
  snapshot: ObjectId;
  /** The branches whose steps it continues, each up to a step. */
  lineage: Lineage;
  /** An open workspace that may share many files: copying them is faster than reading the store. */
  near: Snapshotter;
  /** Calls the run's model for a tool in a step of the branch. Never rejects. */
  askForTool: (request: ModelRequest) => Promise<ToolReply>;
}

/** Makes workspaces for the branches of a run other than `main`. */
export interface BranchPlaces {
  open(branch: BranchId, start: BranchStart): Promise<BranchPlace>;
  /** The host folder of a branch's long outputs, whether the branch is open or not. */
  outputsFolder(branch: BranchId): string;
}
