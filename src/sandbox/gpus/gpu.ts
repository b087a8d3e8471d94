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
}

/** Where a machine's GPUs are found. */
export interface GpuSystem {
  /** The program `nvidia-smi`. */
  smi: string;
  /** `/dev` */
  dev: string;
  /** `/proc/driver/nvidia` */
  proc: string;
}

export function gpuSystemOf(variables: Readonly<Record<string, string | undefined>>): GpuSystem {
  return { smi: variables.MLAB_NVIDIA_SMI || 'nvidia-smi', dev: '/dev', proc: '/proc/driver/nvidia' };
}

/** Processes that were given a GPU have this variable, by which those that are left over can be found. */
export function gpuMarker(uuid: string): string {
  return `MLAB_${uuid.replaceAll(/[^A-Za-z0-9]/g, '_')}`;
}

/** With these variables CUDA finds the given GPUs, and we find leftover processes. */
export function gpuVariables(gpus: readonly Gpu[]): Record<string, string> {
  if (gpus.length === 0) return {};
  return {
    CUDA_VISIBLE_DEVICES: gpus.map(({ uuid }) => uuid).join(','),
    ...Object.fromEntries(gpus.map(({ uuid }) => [gpuMarker(uuid), '1'])),
  };
}
