import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { kernelText } from '../kernel-text.ts';
import type { DeviceFile, Gpu, GpuSystem } from './gpu.ts';
import { nvidiaSmi, query, rowsOf, smiNumber } from './nvidia-smi.ts';

const names = ['index', 'uuid', 'name', 'memory.total', 'pci.bus_id'] as const;
const Card = z.object({
  index: z.string().regex(/^\d+$/).transform(Number),
  uuid: z.string().regex(/^GPU-[\w-]+$/),
  name: z.string(),
  'memory.total': smiNumber,
  'pci.bus_id': z.string(),
});
type Card = z.infer<typeof Card>;

/** A slice, with its number on its GPU. */
interface Slice {
  uuid: string;
  name: string;
  index: number;
}

/** Device files that programs need for any GPU. */
const sharedDevices = ['nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools'];

/**
 * The GPUs of this machine that this process may use; of a divided GPU, each slice separately.
 * @param visible CUDA_VISIBLE_DEVICES of the environment, in which schedulers name the GPUs of a job
 */
export async function listGpus(system: GpuSystem, visible: string | undefined): Promise<Gpu[]> {
  const printed = await nvidiaSmi(system.smi, query(names));
  if (printed === null) return [];
  const cards = rowsOf(printed, names, Card);
  const slices = slicesOf((await nvidiaSmi(system.smi, ['-L'])) ?? '');
  const isDivided = cards.some(({ uuid }) => (slices.get(uuid) ?? []).length > 0);
  const places = isDivided ? placesOf((await nvidiaSmi(system.smi, ['-q'])) ?? '') : new Map<string, Place>();
  const gpus = cards.flatMap((card): (Gpu & { index: number })[] => {
    const whole = wholeGpu(card, system);
    const parts = slices.get(card.uuid) ?? [];
    if (parts.length === 0) return [{ ...whole, index: card.index }];
    const minor = minorOf(card, system.proc);
    return parts.map(({ uuid, name, index }) => ({
      ...{ ...whole, uuid, name: `${card.name} ${name}`, index: card.index },
      devices: [
        ...whole.devices,
        ...capabilities(placeOf(uuid, places.get(`${card.uuid} ${index}`)), minor, system),
      ],
    }));
  });
  return gpus.filter((gpu) => isVisible(gpu, visible)).map(({ index, ...gpu }) => gpu);
}

/** Device files that all GPUs share, as far as they exist. */
export function sharedGpuDevices(dev: string): DeviceFile[] {
  return sharedDevices.filter((name) => existsSync(join(dev, name))).map((name) => deviceFile(name, dev));
}

function wholeGpu(card: Card, system: GpuSystem): Gpu {
  const own = `nvidia${minorOf(card, system.proc)}`;
  const { uuid, name, 'memory.total': memoryMb } = card;
  const devices = [...sharedGpuDevices(system.dev), deviceFile(own, system.dev)];
  return { uuid, card: uuid, name, memoryMb, devices, libraries: system.libraries };
}

function deviceFile(name: string, dev: string): DeviceFile {
  return { source: join(dev, name), target: join('/dev', name) };
}

/** The number in the name of its device file; if the driver does not report it, the numbering is the same. */
function minorOf({ index, 'pci.bus_id': bus }: Card, proc: string): number {
  // nvidia-smi writes the domain with eight digits, the kernel with four.
  const address = bus.toLowerCase().replace(/^0{4}(?=[0-9a-f]{4}:)/, '');
  const said = /^Device Minor:\s*(\d+)/m.exec(kernelText(join(proc, 'gpus', address, 'information')));
  return said === null ? index : Number(said[1]);
}

/** `MIG 1g.10gb     Device  0: (UUID: MIG-…)`, below the line of its GPU. */
function slicesOf(list: string): Map<string, Slice[]> {
  const slices = new Map<string, Slice[]>();
  let card = '';
  for (const line of list.split('\n')) {
    card = /^GPU \d+:.*\(UUID: (GPU-[\w-]+)\)/.exec(line)?.[1] ?? card;
    const slice = /^\s+(MIG .*?)\s+Device\s+(\d+): \(UUID: (MIG-[\w/-]+)\)/.exec(line);
    if (slice === null) continue;
    const [, name = '', index = '', uuid = ''] = slice;
    slices.set(card, [...(slices.get(card) ?? []), { uuid, name, index: Number(index) }]);
  }
  return slices;
}

/** Which part of a GPU a slice is: the numbers of its instances. */
interface Place {
  gpuInstance: number;
  computeInstance: number;
}

/** By the GPU's UUID and the slice's number on it. */
function placesOf(report: string): Map<string, Place> {
  const places = new Map<string, Place>();
  let [card, slice, gpuInstance] = ['', '', 0];
  for (const line of report.split('\n')) {
    const [, key = '', value = ''] = /^\s*(.*?)\s*: (.*)$/.exec(line) ?? [];
    if (/^GPU /.test(line)) [card, slice] = ['', ''];
    if (key === 'GPU UUID') card = value;
    if (key === 'Index') slice = value;
    if (key === 'GPU Instance ID') gpuInstance = Number(value);
    if (key === 'Compute Instance ID')
      places.set(`${card} ${slice}`, { gpuInstance, computeInstance: Number(value) });
  }
  // Depending on the version of the driver, the report names a GPU before or after its slices.
  return places;
}

/** Older drivers write it into the UUID: `MIG-GPU-…/1/0`. */
function placeOf(uuid: string, found: Place | undefined): Place | undefined {
  const [, gpuInstance, computeInstance] = /\/(\d+)\/(\d+)$/.exec(uuid) ?? [];
  if (gpuInstance === undefined || computeInstance === undefined) return found;
  return { gpuInstance: Number(gpuInstance), computeInstance: Number(computeInstance) };
}

/** The files without which a slice can't be used. */
function capabilities(place: Place | undefined, minor: number, { proc, dev }: GpuSystem): DeviceFile[] {
  if (place === undefined) return [];
  const instance = join(proc, 'capabilities', `gpu${minor}`, 'mig', `gi${place.gpuInstance}`);
  const files = [join(instance, 'access'), join(instance, `ci${place.computeInstance}`, 'access')];
  return files.flatMap((file) => {
    const number = /^DeviceFileMinor:\s*(\d+)/m.exec(kernelText(file))?.[1];
    return number === undefined ? [] : [deviceFile(`nvidia-caps/nvidia-cap${number}`, dev)];
  });
}

/** Numbers, or prefixes of UUIDs; everything after an invalid entry is ignored. */
function isVisible({ index, uuid, card }: Gpu & { index: number }, visible: string | undefined): boolean {
  if (visible === undefined || visible.trim() === 'all') return true;
  return visible
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .some(
      (word) =>
        word === String(index) ||
        (/^(GPU|MIG)-/.test(word) && (uuid.startsWith(word) || card.startsWith(word))),
    );
}

/** Device files of GPUs, whether or not the driver reports them. */
export function gpuDeviceFiles(dev: string): string[] {
  const all = existsSync(dev) ? readdirSync(dev) : [];
  return all.filter((name) => /^nvidia\d+$/.test(name)).map((name) => join(dev, name));
}
