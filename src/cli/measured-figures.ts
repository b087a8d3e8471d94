import { cpus } from 'node:os';

/** Six significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(6));
}

/** This machine, for figures that were measured on it, with the GPUs that were used. */
export function machineName(gpus: readonly { name: string }[] = []): string {
  const [processor] = cpus();
  const models = [processor?.model, ...gpus.map(({ name }) => name)];
  const named = models.map((model) => model?.replaceAll(/[^\w .()@-]/g, '').trim() || 'CPU');
  return [`${cpus().length} cores`, ...named].join(', ');
}
