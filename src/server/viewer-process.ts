import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { z } from 'zod';
import { compiledCodeVariables } from '../lib/compiled-code.ts';
import { UserError } from '../lib/errors.ts';
import type { ServeOptions } from './http/serve.ts';

export interface ViewerProcess extends Disposable {
  url: string;
}

const Reply = z.union([z.object({ url: z.string() }), z.object({ problem: z.string(), hint: z.string() })]);

/**
 * Serves the viewer from another process, so that it does not slow this one.
 * @throws UserError as `serveViewer`
 */
export async function startViewerProcess(
  options: Omit<ServeOptions, 'log' | 'host' | 'restFrom'>,
): Promise<ViewerProcess> {
  const module = join(import.meta.dirname, `viewer-process-main${extname(import.meta.filename)}`);
  const child = fork(module, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: compiledCodeVariables(),
  });
  child.send(options);
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  const reply = Reply.safeParse(message).data ?? {
    problem: 'The viewer could not be started.',
    hint: 'Run: mlab view',
  };
  const stop = () => {
    if (child.connected) child.disconnect();
  };
  if ('url' in reply) return { url: reply.url, [Symbol.dispose]: stop };
  stop();
  throw new UserError('no_viewer', reply.problem, reply.hint);
}
