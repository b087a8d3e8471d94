import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** A device file: its path on the host, and where programs look for it. */
export interface DeviceFile {
  source: string;
  target: string;
}

/** A GPU, or a slice of one (MIG), as given to one run. */
export interface Gpu {
  /** `GPU-…` or `MIG-…`. */
  uuid: string;
  /** UUID of the whole GPU, which may be the same. */
  card: string;
  name: string;
  /** Of the whole GPU; null if unknown. */
  memoryMb: number | null;
  /** Its own device files, besides those that all GPUs share. */
  devices: readonly DeviceFile[];
  /** Folders with the driver's libraries that loaders find by LD_LIBRARY_PATH alone. */
  libraries: readonly string[];
}

/** Where a machine's GPUs are found. */
export interface GpuSystem {
  /** The program `nvidia-smi`. */
  smi: string;
  /** `/dev` */
  dev: string;
  /** `/proc/driver/nvidia` */
  proc: string;
  /** As for a GPU: containers often have the driver's libraries in a folder of their own. */
  libraries: readonly string[];
}

export function gpuSystemOf({
  MLAB_NVIDIA_SMI: smi,
  LD_LIBRARY_PATH: path = '',
}: Readonly<Record<string, string | undefined>>): GpuSystem {
  const libraries = path
    .split(':')
    .filter((folder) => isAbsolute(folder) && existsSync(join(folder, 'libcuda.so.1')));
  return { smi: smi || 'nvidia-smi', dev: '/dev', proc: '/proc/driver/nvidia', libraries };
}

/** Processes that were given a GPU have this variable, by which those that are left over can be found. */
export function gpuMarker(uuid: string): string {
  return `MLAB_${uuid.replaceAll(/[^A-Za-z0-9]/g, '_')}`;
}

/** Those of all, each once. */
export function librariesOf(gpus: readonly Gpu[]): string[] {
  return [...new Set(gpus.flatMap(({ libraries }) => libraries))];
}

/** With these variables CUDA finds the given GPUs, and we find leftover processes. */
export function gpuVariables(gpus: readonly Gpu[]): Record<string, string> {
  if (gpus.length === 0) return {};
  const libraries = librariesOf(gpus);
  return {
    ...(libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(':') }),
    CUDA_VISIBLE_DEVICES: gpus.map(({ uuid }) => uuid).join(','),
    ...Object.fromEntries(gpus.map(({ uuid }) => [gpuMarker(uuid), '1'])),
  };
}
