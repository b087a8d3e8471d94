import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as requestOf,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode, UserError } from '../../lib/errors.ts';
import { type ModelRegistry, ProxyServer, providerOf, Quota } from '../../models/index.ts';
import type { Job, Plan, ProviderSettings, RunSpec } from '../../schema/index.ts';
import type { Experiment } from '../../store/index.ts';
import { experimentModels } from '../experiment-models.ts';

/** The environment variable with the token of a worker's run. */
export const gatewayTokenVariable = 'MLAB_GATEWAY_TOKEN';

export interface RunGatewaysOptions {
  registry: ModelRegistry;
  experiment: Experiment;
  /** What all runs together may use. */
  spend: Plan['spend'];
  /** The address and port that it listens on; port 0: any free port. */
  port: number;
  /** PEM; undefined: without TLS. */
  tls: { cert: string; key: string } | undefined;
  /** Tokens are derived from it: the same secret gives the same tokens. */
  secret: string;
  signal: AbortSignal;
}

/**
 * Gives runs on machines without access to language models that access: it listens on a machine that has it. Each run
 * has its own token, and its own `ProxyServer` with the models of its plan. The providers' keys stay in this process,
 * and the use of all runs is counted here, where all of it is visible.
 */
export class RunGateways implements AsyncDisposable {
  readonly #options: RunGatewaysOptions;
  readonly #shared: Quota | null;
  readonly #runs: ReadonlyMap<string, RunSpec>;
  readonly #proxies = new Map<string, Promise<ProxyServer>>();
  /** The folder of the proxies' sockets. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'mlab-gateways-'));
  readonly #server: Server;

  private constructor(options: RunGatewaysOptions) {
    this.#options = options;
    const { experiment, tls } = options;
    this.#shared = experimentModels(options, options)?.shared ?? null;
    const runs = [...experiment.plan.runs, ...experiment.branches.map(({ run }) => run)];
    this.#runs = new Map(runs.map((run) => [digest(this.tokenOf(run)), run]));
    const serve: RequestListener = (request, response) =>
      void this.#serve(request, response).catch(() => response.destroy());
    this.#server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
    this.#server.keepAliveTimeout = 120_000;
  }

  /** @throws UserError `port_taken` */
  static async listen(options: RunGatewaysOptions): Promise<RunGateways> {
    const gateways = new RunGateways(options);
    const listening = Promise.withResolvers<void>();
    gateways.#server.once('error', listening.reject);
    gateways.#server.listen(options.port, listening.resolve);
    try {
      await listening.promise;
    } catch (error) {
      await gateways[Symbol.asyncDispose]();
      if (!hasCode(error, 'EADDRINUSE')) throw error;
      throw new UserError(
        'port_taken',
        `Port ${options.port}, where runs expect their gateway, is in use.`,
        'Another mlab run may be working on this experiment. Otherwise stop the process that uses the port.',
      );
    }
    return gateways;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  tokenOf({ id }: Pick<RunSpec, 'id'>): string {
    return createHmac('sha256', this.#options.secret).update(id).digest('base64url');
  }

  /** Aborts the calls in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    for (const proxy of this.#proxies.values()) await (await proxy)[Symbol.asyncDispose]();
    if (this.#server.listening) await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Forwards a request to the proxy of the run whose token it has. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = digest(tokenIn(request));
    const run = this.#runs.get(id);
    if (run === undefined) {
      response.writeHead(401, { 'content-type': 'application/json', 'x-should-retry': 'false' });
      response.end(
        JSON.stringify({ error: { type: 'authentication_error', message: 'This is no token of a run.' } }),
      );
      return;
    }
    const socketPath = join(this.#folder, id.slice(0, 16));
    const known = this.#proxies.get(id) ?? this.#open(run, socketPath);
    this.#proxies.set(id, known);
    await known;
    const { method, url, rawHeaders } = request;
    const onward = requestOf({ socketPath, method, path: url, headers: rawHeaders, agent: false });
    onward.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
      reply.pipe(response);
      reply.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }

  async #open(run: RunSpec, socket: string): Promise<ProxyServer> {
    const { registry, signal } = this.#options;
    if (run.roles === undefined) throw new Error(`the run ${run.id} asks no model`);
    const { tokens, money } = run.limits;
    const quota = new Quota({ of: 'the run', tokens, money });
    const upstream = registry.upstream(run.roles);
    return await ProxyServer.listen(
      { socket },
      { upstream, quota, shared: this.#shared, token: this.tokenOf(run), signal },
    );
  }
}

/** A job whose models are reached through a gateway, with the token in the worker's environment instead of keys. */
export function throughGateway<Given extends Job>(job: Given, url: string): Given {
  const { models, run } = job;
  if (models === undefined || run.roles === undefined) return job;
  const names = Object.values(run.roles).map(({ model }) => providerOf(model));
  return { ...job, models: { ...models, providers: providersThrough(models.providers, names, url) } };
}

/** Settings for these providers through a gateway. Scripted ones need no settings. */
export function providersThrough(
  providers: Readonly<Record<string, ProviderSettings>>,
  names: readonly string[],
  url: string,
): Record<string, ProviderSettings> {
  const through = { base_url: `${url.replace(/\/$/, '')}/v1`, api_key_variable: gatewayTokenVariable };
  const changed = [...new Set(names)].filter((name) => (providers[name]?.kind ?? name) !== 'scripted');
  return {
    ...providers,
    ...Object.fromEntries(changed.map((name) => [name, { ...providers[name], ...through }])),
  };
}

function tokenIn({ headers, url = '' }: IncomingMessage): string {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const given = [
    ...[headers['x-api-key'], headers['x-goog-api-key'], headers['api-key']],
    ...[headers.authorization?.replace(/^Bearer\s+/i, ''), query.get('key')],
  ].find((value) => typeof value === 'string' && value !== '');
  return typeof given === 'string' ? given : '';
}

/** Tokens are looked up by their digest, so the time of the look-up reveals nothing about them. */
function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
