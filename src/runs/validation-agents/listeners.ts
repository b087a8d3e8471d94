import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { ownedFolder } from '../../sandbox/index.ts';

/** Sockets on this machine that record every connection. */
export class Listeners implements AsyncDisposable {
  /** What was received, by the name of the socket. */
  readonly heard: string[] = [];
  readonly ports: { tcp: number; tcp6: number; udp: number };
  readonly abstract: string;
  readonly socketFile: string;
  readonly #close: () => Promise<void>;

  private constructor(
    ports: Listeners['ports'],
    names: { abstract: string; socketFile: string },
    close: () => Promise<void>,
  ) {
    this.ports = ports;
    this.abstract = names.abstract;
    this.socketFile = names.socketFile;
    this.#close = close;
  }

  static async open(token: string): Promise<Listeners> {
    const folder = ownedFolder('listener');
    const names = { abstract: `mlab-${token}`, socketFile: join(folder, 'socket') };
    const servers: Server[] = [];
    let note = (_: string): void => {};
    const listen = async (name: string, where: object): Promise<number> => {
      const server = createServer((connection) => {
        note(name);
        // Not read to its end: the content does not matter, and a client must not keep the listener open.
        connection.on('error', () => {}).end(() => connection.destroy());
      });
      server.listen(where);
      await once(server, 'listening');
      servers.push(server);
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    };
    const datagrams = createSocket('udp4', () => note('UDP'));
    datagrams.bind(0, '127.0.0.1');
    await once(datagrams, 'listening');
    const ports = {
      tcp: await listen('TCP', { host: '127.0.0.1', port: 0 }),
      // A machine without IPv6 has nothing to reach there.
      tcp6: await listen('TCP over IPv6', { host: '::1', port: 0 }).catch(() => 1),
      udp: datagrams.address().port,
    };
    if (process.platform === 'linux') await listen('abstract socket', { path: `\0${names.abstract}` });
    await listen('socket file', { path: names.socketFile });
    const listeners = new Listeners(ports, names, async () => {
      await Promise.all([
        new Promise<void>((resolve) => datagrams.close(() => resolve())),
        ...servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      ]);
      rmSync(folder, { recursive: true, force: true });
    });
    note = (name) => void listeners.heard.push(name);
    return listeners;
  }

  /**
   * Connects to every socket itself, because a listener that hears nobody proves nothing. Returns how many received it.
   */
  async provePresence(): Promise<number> {
    const connections = [
      createConnection(this.ports.tcp, '127.0.0.1'),
      createConnection(`\0${this.abstract}`),
      createConnection(this.socketFile),
    ];
    const udp = createSocket('udp4');
    const sent = new Promise<void>((resolve) => udp.send('x', this.ports.udp, '127.0.0.1', () => resolve()));
    await Promise.all([sent, ...connections.map((connection) => once(connection, 'close'))]);
    for (let wait = 0; wait < 100 && this.heard.length < connections.length + 1; wait += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    udp.close();
    return this.heard.splice(0).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** This machine's addresses other than loopback. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}
