import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { hasCode, messageOf, UserError } from '../../../lib/errors.ts';
import { readRegularFile } from '../../../lib/regular-file.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import type { Job, RunSpec, SlurmSettings } from '../../../schema/index.ts';
import type { ExecutorPlace } from '../executor-kind.ts';
import { gatewayTokenVariable, RunGateways, throughGateway } from '../run-gateways.ts';

/**
 * `slurm/gateway.json`, which only its owner may read: jobs find the gateway again when `mlab run` is started again.
 */
const KnownGateway = z.object({ v: z.literal(1), port: z.int(), secret: z.string() });

/** How jobs on nodes reach language models if they can't reach them directly. */
export interface NodeGateway extends AsyncDisposable {
  /** The job in the form that its worker gets. */
  changed<Given extends Job>(job: Given): Given;
  /** The token, which is in a file beside the job that only its owner may read. */
  tokenOf(run: RunSpec): string;
}

const maxBytes = 2 ** 20;

/** Lines of shell before a worker that asks models; none if nodes reach models directly. */
export function gatewayLines({ gateway_on: on, gateway_certificate: certificate }: SlurmSettings): string {
  if (on === 'node') return '';
  const trusted =
    certificate === undefined ? '' : `export NODE_EXTRA_CA_CERTS=${shellWord(resolve(certificate))}\n`;
  return `${trusted}export ${gatewayTokenVariable}="$(cat "$folder/tokens/$index")"\n`;
}

/**
 * @param folder `slurm` of the experiment
 * @returns null if nodes reach models directly
 */
export async function openNodeGateway(
  { models, experiment, variables, signal, log }: ExecutorPlace,
  settings: SlurmSettings,
  folder: string,
): Promise<NodeGateway | null> {
  const { gateway_on: on, gateway_certificate: certificate } = settings;
  if (on === 'node' || models === undefined) return null;
  if (on !== 'submit') {
    const token = variables[gatewayTokenVariable] ?? '';
    return gatewayAt(
      on,
      () => token,
      async () => {},
    );
  }
  const path = join(folder, 'gateway.json');
  const known = knownGateway(path);
  const secret = known?.secret ?? randomBytes(32).toString('base64url');
  const port = known?.port ?? settings.gateway_port;
  const gateways = await RunGateways.listen({
    ...models,
    experiment,
    port,
    tls: tlsOf(settings),
    secret,
    signal,
  });
  writeSecretly(path, JSON.stringify({ v: 1, port: gateways.port, secret }));
  const host = settings.gateway_host ?? hostname();
  const url = `${certificate === undefined ? 'http' : 'https'}://${host}:${gateways.port}`;
  log(`Nodes reach language models by ${url}, as long as this command runs.`);
  return gatewayAt(
    url,
    (run) => gateways.tokenOf(run),
    () => gateways[Symbol.asyncDispose](),
  );
}

/** Replaces a file in one step; others can't read it at any moment. */
export function writeSecretly(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}

function gatewayAt(url: string, tokenOf: NodeGateway['tokenOf'], close: () => Promise<void>): NodeGateway {
  return {
    changed: (job) => throughGateway(job, url),
    tokenOf,
    [Symbol.asyncDispose]: close,
  };
}

function tlsOf(settings: SlurmSettings): { cert: string; key: string } | undefined {
  const { gateway_certificate: certificate, gateway_key: key } = settings;
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate !== undefined && key !== undefined) return { cert: textOf(certificate), key: textOf(key) };
  throw new UserError(
    'bad_experiment',
    'executor.slurm has only one of gateway_certificate and gateway_key.',
    'Give both or neither.',
  );
}

function textOf(path: string): string {
  try {
    return readRegularFile(resolve(path), maxBytes, { follow: true }).toString('utf8');
  } catch (error) {
    throw new UserError('no_file', `${path} can't be read: ${messageOf(error)}`, 'Give a PEM file.', {
      cause: error,
    });
  }
}

function knownGateway(path: string): z.infer<typeof KnownGateway> | null {
  try {
    return KnownGateway.parse(JSON.parse(readRegularFile(path, maxBytes).toString('utf8')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
