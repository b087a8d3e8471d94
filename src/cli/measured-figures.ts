import { cpus } from 'node:os';

/** Six significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(6));
}

/** This machine, for figures that were measured on it. */
export function machineName(): string {
  const [processor] = cpus();
  const model = processor?.model.replaceAll(/[^\w .()@-]/g, '').trim();
  return `${cpus().length} cores, ${model === undefined || model === '' ? 'CPU' : model}`;
}
