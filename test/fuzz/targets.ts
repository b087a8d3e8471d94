import type { FuzzTarget } from './engine/target.ts';
import { agentLinesTarget, passedReplyTarget } from './targets/agents.ts';
import { archiveTarget } from './targets/archives.ts';
import {
  collectionTarget,
  experimentFileTarget,
  globTarget,
  taskFileTarget,
} from './targets/configuration.ts';
import { editTarget } from './targets/edits.ts';
import { importTarget, tornJsonTarget } from './targets/imports.ts';
import { outputTarget } from './targets/outputs.ts';
import { graderTarget, replTarget } from './targets/processes.ts';
import { providerTargets } from './targets/providers.ts';
import { proxiedRequestTarget } from './targets/proxied-requests.ts';
import { pythonReaderTargets } from './targets/python-readers.ts';
import { pythonTarget } from './targets/python-sources.ts';
import { commandTarget, replyTarget } from './targets/replies.ts';
import { chatTarget, gatewayTarget, viewerTarget } from './targets/requests.ts';
import { executorTarget, keysTarget, settingsTarget } from './targets/settings.ts';
import {
  compressedTraceTarget,
  conversationTarget,
  exportTarget,
  pathTarget,
  planTarget,
  runTarget,
} from './targets/store.ts';
import { printedTarget, transcriptTarget } from './targets/texts.ts';

/** Everything in the project that reads data from others. */
export const targets: readonly FuzzTarget[] = [
  ...[replyTarget, commandTarget, editTarget, ...providerTargets],
  ...[taskFileTarget, globTarget, experimentFileTarget, collectionTarget, archiveTarget],
  ...[settingsTarget, keysTarget, executorTarget],
  ...[runTarget, exportTarget, planTarget, compressedTraceTarget, conversationTarget, pathTarget],
  ...[importTarget, tornJsonTarget, chatTarget, gatewayTarget, viewerTarget, graderTarget, replTarget],
  ...[printedTarget, transcriptTarget, outputTarget, pythonTarget],
  ...[agentLinesTarget, passedReplyTarget, proxiedRequestTarget],
  ...pythonReaderTargets,
];
