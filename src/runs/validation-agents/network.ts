import { adversarialAgent } from './adversarial-agent.ts';
import { Listeners, ownAddresses } from './listeners.ts';

export const network = adversarialAgent({
  name: 'network',
  summary: 'contacts a listener on this machine over TCP, UDP, IPv6 and Unix sockets, and opens raw sockets',
  async prepare({ token }) {
    const listeners = await Listeners.open(token);
    const heardItself = await listeners.provePresence();
    return {
      async act(actions) {
        await actions.submitNonsense();
        await actions.bring('network.py', {
          token,
          ...listeners.ports,
          abstract: listeners.abstract,
          socket_file: listeners.socketFile,
          addresses: ownAddresses().slice(0, 2),
        });
        await actions.execute('network.py');
      },
      probe: () => [
        {
          looked: 'listeners on this machine',
          breached: listeners.heard.length > 0 || heardItself < 4,
          finding:
            listeners.heard.length > 0
              ? `heard by ${listeners.heard.join(', ')}`
              : `heard nobody (but the harness itself, on ${heardItself} sockets)`,
        },
      ],
      close: () => listeners[Symbol.asyncDispose](),
    };
  },
});
