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

/** Where workers have the token of their run. */
export const gatewayTokenVariable = 'MLAB_GATEWAY_TOKEN';

export interface RunGatewaysOptions {
  registry: ModelRegistry;
  experiment: Experiment;
  /** What all runs together may use. */
  spend: Plan['spend'];
  /** The address that it listens at, and its port; 0: any. */
  port: number;
  /** PEM; undefined: it is spoken to without TLS. */
  tls: { cert: string; key: string } | undefined;
  /** Tokens are made of it: the same secret makes the same tokens. */
  secret: string;
  signal: AbortSignal;
}

/**
 * The way to language models for runs on machines that have none: it listens where there is one. Each run has a token of
 * its own, and behind it a `ProxyServer` with the models of its plan. The keys of providers stay in this process, and what
 * the runs use is counted here, where all of them are seen.
 */
export class RunGateways implements AsyncDisposable {
  readonly #options: RunGatewaysOptions;
  readonly #shared: Quota | null;
  readonly #runs: ReadonlyMap<string, RunSpec>;
  readonly #proxies = new Map<string, Promise<ProxyServer>>();
  /** Of the sockets of the proxies. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'mlab-gateways-'));
  readonly #server: Server;

  private constructor(options: RunGatewaysOptions) {
    this.#options = options;
    const { experiment, tls } = options;
    this.#shared = experimentModels(options, options)?.shared ?? null;
    this.#runs = new Map(experiment.plan.runs.map((run) => [digest(this.tokenOf(run)), run]));
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

  /** Gives up calls under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    for (const proxy of this.#proxies.values()) await (await proxy)[Symbol.asyncDispose]();
    if (this.#server.listening) await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Passes a request on to the proxy of the run whose token it has. */
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

/** A job whose models are asked through a gateway, with the token in the worker's environment in place of keys. */
export function throughGateway<Given extends Job>(job: Given, url: string): Given {
  const { models, run } = job;
  if (models === undefined || run.roles === undefined) return job;
  const names = Object.values(run.roles).map(({ model }) => providerOf(model));
  return { ...job, models: { ...models, providers: providersThrough(models.providers, names, url) } };
}

/** Settings with which these providers are reached through a gateway. Scripted ones need none. */
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

/** Tokens are looked up by it: the time that it takes says nothing of them. */
function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
