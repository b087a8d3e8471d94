/** A process that does the jobs of a `Background`, one after another, and ends with it. */
import { messageOf, UserError } from '../../lib/errors.ts';
import { lowerPriority } from '../../lib/lower-priority.ts';
import { doJob } from './do-job.ts';
import { type Message, Order } from './jobs.ts';

const progressMs = 150;

let queue = Promise.resolve();

process.on('message', (message) => {
  const { id, job } = Order.parse(message);
  queue = queue.then(async () => {
    let next = Date.now() + progressMs;
    try {
      const result = await doJob(job, (done, total) => {
        if (Date.now() < next) return;
        next = Date.now() + progressMs;
        say({ kind: 'progress', id, done, total });
      });
      say({ kind: 'result', id, result });
    } catch (error) {
      say({ kind: 'failure', id, failure: failureOf(error) });
    }
  });
});
process.on('disconnect', () => process.exit(0));
// The parent process has gone.
process.on('error', () => process.exit(0));
// Runs and pages have priority; yet people wait for these jobs, too: with 10, one of a second took half a minute beside
// six busy processes.
if (process.argv[2] === 'low-priority') lowerPriority(5);

function say(message: Message): void {
  process.send?.(message);
}

function failureOf(error: unknown) {
  if (UserError.isInstance(error)) return { code: error.code, message: error.message, hint: error.hint };
  return { code: 'internal', message: messageOf(error), hint: 'This is a bug: please report it.' };
}
