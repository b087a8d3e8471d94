import { hasCode, UserError } from '../../../lib/errors.ts';
import { installHint } from '../../../lib/install-hint.ts';
import type { ExecutorSettings, KubernetesSettings } from '../../../schema/index.ts';
import { ArrayExecutor } from '../arrays/array-executor.ts';
import type { ExecutorKind } from '../executor-kind.ts';
import { plannedManifests } from './manifest.ts';

/** Users without Kubernetes neither install nor load its client. */
async function load(): Promise<typeof import('./kubernetes-scheduler.ts')> {
  try {
    return await import('./kubernetes-scheduler.ts');
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new UserError(
      'no_kubernetes_client',
      'The client for Kubernetes is not installed.',
      installHint('@kubernetes/client-node@^2.0.0'),
      { cause: error },
    );
  }
}

function settingsOf({ kubernetes: settings }: ExecutorSettings): KubernetesSettings {
  if (settings !== undefined) return settings;
  throw new UserError(
    'bad_experiment',
    'Kubernetes needs an image with mlab and a volume with the experiment.',
    'Set executor.kubernetes.image and executor.kubernetes.volumes in an experiment file, and name it (docs/how-to/scale.md).',
  );
}

export const kubernetes: ExecutorKind = {
  name: 'kubernetes',
  matches: (on) => on === 'kubernetes',
  recorded: () => 'kubernetes',
  limitHint: () =>
    'Limit each run (--money, --tokens), or use workers of a Redis (--on redis), which count together.',
  open: async (_, place) => {
    const settings = settingsOf(place.settings);
    const { KubernetesScheduler } = await load();
    return new ArrayExecutor(place, new KubernetesScheduler(place, settings));
  },
  ready: async (_, { settings }) => {
    const { configFor } = await load();
    configFor(settingsOf(settings));
  },
  documents: async (place) => plannedManifests(place, settingsOf(place.settings)),
};
