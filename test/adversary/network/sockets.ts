import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { pythonAttacks } from '../python-attacks.ts';

/** Servers of the host that nothing inside may reach, running during the attacks. */
export default pythonAttacks(join(import.meta.dirname, 'sockets.py'), {
  unconfined: [
    'connects to a server of the host on 127.0.0.1',
    'connects to an abstract socket of the host',
    'connects to a socket file of the host',
  ],
  around: async (stage, attacks) => {
    const abstract = `mlab-adversary-${process.pid}`;
    const socket = join(stage.vault, 'server.sock');
    const tcp = await listen({ host: '127.0.0.1', port: 0 });
    const six = await listen({ host: '::1', port: portOf(tcp) }).catch(() => null);
    const free = await listen({ host: '127.0.0.1', port: 0 });
    const free_port = portOf(free);
    free.close();
    const others = [await listen({ path: `\0${abstract}` }), await listen({ path: socket })];
    try {
      return await attacks({ port: portOf(tcp), free_port, abstract, socket });
    } finally {
      for (const server of [tcp, six, ...others]) server?.close();
    }
  },
});

async function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((connection) => connection.end());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, resolve);
  });
  server.unref();
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
