import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { researcher, startProviderServer, variablesFor } from './fakes/providers/index.ts';
import { ModelPlace, shortResearch } from './fixtures/model-place.ts';
import { ClosedNetwork, whyNoNetwork } from './fixtures/slurm/closed-network.ts';
import { SlurmCluster, whyNoCluster } from './fixtures/slurm/cluster.ts';

const missing = whyNoCluster() ?? whyNoNetwork();

describe.skipIf(missing !== null)(
  `nodes without a way out${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const place = new ModelPlace();
    let network: ClosedNetwork;
    let cluster: SlurmCluster;

    beforeAll(async () => {
      await place.provision();
      network = new ClosedNetwork();
      const { prefix: nodePrefix, outside: controllerAddress, inside: nodeAddress } = network;
      cluster = await SlurmCluster.start({
        ...{ nodes: 1, coresPerNode: 4, nodePrefix, controllerAddress, nodeAddress },
      });
    }, 60_000);
    afterAll(async () => {
      await cluster?.[Symbol.asyncDispose]();
      network?.[Symbol.dispose]();
      place[Symbol.dispose]();
    });

    function startServer() {
      return startProviderServer({
        answer: researcher(
          () => shortResearch,
          () => ({}),
        ),
      });
    }

    /** An experiment file whose jobs first show that they cannot reach the network. */
    function fileOf(name: string, port: number, settings: Record<string, unknown> = {}): string {
      const file = join(place.folder, `${name}.json`);
      const preamble = `if (exec 3<>/dev/tcp/${network.outside}/${port} || exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; then echo "there is a way out"; exit 9; fi`;
      const slurm = { preamble, gateway_host: network.outside, ...settings };
      writeFileSync(file, JSON.stringify({ name, sandbox: 'none', executor: { on: 'slurm', slurm } }));
      return file;
    }

    test('--gateway-on submit: runs reach the models of every provider through this machine, over TLS, and keys stay here', async () => {
      await using server = await startServer();
      const [certificate, key] = [join(place.folder, 'gateway.pem'), join(place.folder, 'gateway.key')];
      const subject = ['-subj', '/CN=mlab', '-addext', `subjectAltName=IP:${network.outside}`];
      const files = ['-nodes', '-keyout', key, '-out', certificate];
      const made = ['req', '-x509', '-newkey', 'rsa:2048', '-days', '2', ...files, ...subject];
      execFileSync('openssl', made, { stdio: 'ignore' });
      const settings = { gateway_certificate: certificate, gateway_key: key };
      const file = fileOf('closed', Number(new URL(server.baseUrls.anthropic).port), settings);
      const models = 'anthropic/claude-test-1,openai/gpt-5-test,google/gemini-test';
      const argv = [
        file,
        '--agent',
        'tools',
        '--model',
        models,
        '--dir',
        place.experiments,
        '--task',
        'sums',
      ];
      const variables = { ...variablesFor(server), ...cluster.variables };
      const shown = await place.start(variables, 'run', ...argv, '--gateway-on', 'submit', '--dry-run').ended;
      const end = await place.start(variables, 'run', ...argv, '--gateway-on', 'submit').ended;
      expect(end.code, `${end.err}${end.out}`).toBe(0);
      const arrays = join(place.experiments, 'closed/slurm');
      const scripts = readdirSync(arrays)
        .filter((name) => name.startsWith('mlab-'))
        .map((name) => readFileSync(join(arrays, name, 'array.sh'), 'utf8').replaceAll(name, 'mlab-ARRAY'));
      expect(scripts.filter((script) => shown.out.endsWith(script))).toEqual(scripts);
      expect(end.err).toContain(`Nodes reach language models by https://${network.outside}:`);
      expect(place.records('closed').map(({ status }) => status)).toEqual([
        'finished',
        'finished',
        'finished',
      ]);
      expect(place.calls('closed')).toHaveLength(server.requests.length);
      expect(place.filesWithKeys()).toEqual([]);
    });
  },
);
