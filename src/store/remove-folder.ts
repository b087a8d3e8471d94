import { ownTurn } from '../lib/own-turn.ts';
import { removeTreeSlowly } from '../lib/read-only-tree.ts';
import { nextStoreThread } from './threads/store-threads.ts';

/** A thread finishes a removal that takes longer. */
const briefMs = 20;

/** As `removeTreeSlowly`: a small folder at once, a large one in a thread of the store. */
export async function removeFolder(folder: string, signal: AbortSignal): Promise<void> {
  await ownTurn();
  const brief = AbortSignal.timeout(briefMs);
  try {
    await removeTreeSlowly(folder, AbortSignal.any([signal, brief]));
  } catch (error) {
    if (signal.aborted || error !== brief.reason) throw error;
    await nextStoreThread().do({ kind: 'remove', folder }, signal);
  }
}
