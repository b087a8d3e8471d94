/** A thread of `SecondCopier`. */
import { FolderHandle } from '../../lib/folder-handle.ts';
import { answerCalls } from '../../lib/threads/answer-calls.ts';
import { copyUnchanged } from '../restored-file.ts';
import type { FileNode } from '../workspace-tree.ts';
import type { FilesToCopy } from './second-copier.ts';

answerCalls(async ({ from, to, files }: FilesToCopy): Promise<(FileNode | null)[]> => {
  using source = FolderHandle.open(from);
  using target = FolderHandle.open(to);
  return files.map((file) => copyUnchanged(source, target, file));
});
