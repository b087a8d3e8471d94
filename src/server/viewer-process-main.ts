/** A viewer's server in a separate process, which ends with its parent. */
import { z } from 'zod';
import { messageOf, UserError } from '../lib/errors.ts';
import { serveViewer } from './http/serve.ts';

const Options = z.object({
  folders: z.array(z.string()),
  tasks: z.array(z.string()),
  ...{ version: z.string(), command: z.string(), pages: z.string(), port: z.int() },
});

process.once('message', (message) => {
  void start(message);
});
process.on('disconnect', () => process.exit(0));
// The parent process handles Ctrl-C at the terminal.
process.on('SIGINT', () => {});

async function start(message: unknown): Promise<void> {
  try {
    const viewer = await serveViewer({ ...Options.parse(message), log: (line) => console.error(line) });
    process.send?.({ url: viewer.url });
  } catch (error) {
    process.send?.({ problem: messageOf(error), hint: UserError.isInstance(error) ? error.hint : '' });
  }
}
