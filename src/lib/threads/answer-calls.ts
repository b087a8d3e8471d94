import { parentPort } from 'node:worker_threads';
import type { Order, Reply } from './calling-thread.ts';
import { failureOf } from './failure.ts';

/** In a thread: answers the calls of its `CallingThread`, each beside the others. */
export function answerCalls<Call, Value>(answer: (call: Call, signal: AbortSignal) => Promise<Value>): void {
  const underWay = new Map<number, AbortController>();

  async function reply(id: number, call: Call): Promise<Reply<Value>> {
    const controller = new AbortController();
    underWay.set(id, controller);
    try {
      return { id, value: await answer(call, controller.signal) };
    } catch (error) {
      return { id, failure: failureOf(error) };
    } finally {
      underWay.delete(id);
    }
  }

  parentPort?.on('message', (order: Order<Call>) => {
    if ('abort' in order) underWay.get(order.id)?.abort();
    else void reply(order.id, order.call).then((sent) => parentPort?.postMessage(sent));
  });
}
