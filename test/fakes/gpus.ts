import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GpuSystem } from '../../src/sandbox/index.ts';

/** One GPU in the output of the simulated `nvidia-smi`. */
export interface FakeGpu {
  index: number;
  uuid: string;
  bus: string;
  minor: number;
  /** Percent, as nvidia-smi prints it. */
  utilization?: string;
  memoryUsed?: string;
  slices?: { uuid: string; gpuInstance: number; computeInstance: number; capabilities: [number, number] }[];
}

export const twoGpus: readonly FakeGpu[] = [
  { index: 0, uuid: 'GPU-aaaa-1', bus: '00000000:3B:00.0', minor: 1, utilization: '50', memoryUsed: '1000' },
  { index: 1, uuid: 'GPU-bbbb-2', bus: '00000000:AF:00.0', minor: 0, utilization: '100', memoryUsed: '3000' },
];

/**
 * A machine with simulated GPUs: a script instead of nvidia-smi, plain files instead of device files. No driver and no
 * CUDA are involved.
 * @param folder an empty one
 */
export function fakeGpus(folder: string, gpus: readonly FakeGpu[]): GpuSystem {
  const at = (name: string) => join(folder, name);
  const system = { smi: at('nvidia-smi'), dev: at('dev'), proc: at('proc'), libraries: [] };
  const file = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const name of ['nvidiactl', 'nvidia-uvm', 'nvidia-modeset']) file(join(system.dev, name), name);
  for (const { bus, minor, slices = [] } of gpus) {
    file(join(system.dev, `nvidia${minor}`), `card ${minor}`);
    const address = bus.slice(4).toLowerCase();
    file(join(system.proc, 'gpus', address, 'information'), `Model: \t\t Fake\nDevice Minor: \t ${minor}\n`);
    for (const { gpuInstance, computeInstance, capabilities } of slices) {
      const instance = join(system.proc, 'capabilities', `gpu${minor}`, 'mig', `gi${gpuInstance}`);
      const places = [join(instance, 'access'), join(instance, `ci${computeInstance}`, 'access')];
      for (const [at, path] of places.entries()) {
        file(path, `DeviceFileMinor: ${capabilities[at]}\nDeviceFileMode: 292\n`);
        file(join(system.dev, 'nvidia-caps', `nvidia-cap${capabilities[at]}`), '');
      }
    }
  }
  writeFileSync(system.smi, script(gpus), { mode: 0o755 });
  return system;
}

/**
 * A driver's library for these GPUs, in a folder that no loader searches: it counts those that CUDA_VISIBLE_DEVICES
 * names.
 * @returns the folder; null if there is no C compiler
 */
export function fakeDriver(folder: string): string | null {
  // Agents' commands run as another user.
  chmodSync(folder, 0o755);
  const source = join(folder, 'cuda.c');
  writeFileSync(source, driver);
  const words = ['-shared', '-fPIC', '-o', join(folder, 'libcuda.so.1'), source];
  return spawnSync('cc', words).status === 0 ? folder : null;
}

/** Like the real one, it names a thread of its own, and fails with error 304 where it can't. */
const driver = `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static int named(void) {
  const char *at = getenv("CUDA_VISIBLE_DEVICES");
  int count = at != NULL && *at != 0;
  for (; count > 0 && *at != 0; at++) count += *at == ',';
  return count;
}
int cuInit(unsigned flags) {
  int name = open("/proc/thread-self/comm", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (name < 0 || write(name, "cuda", 4) != 4) return 304;
  return named() > 0 ? 0 : 100;
}
int cuDeviceGetCount(int *count) { *count = named(); return 0; }
int cuGetErrorString(int code, const char **text) { *text = code == 304 ? "OS call failed" : "no device"; return 0; }
`;

function script(gpus: readonly FakeGpu[]): string {
  const rows = gpus.map(({ index, uuid, bus }) => `${index}, ${uuid}, Fake GPU, 81559, ${bus}`);
  const used = gpus.map((gpu) => `${gpu.uuid}, ${gpu.utilization ?? '0'}, ${gpu.memoryUsed ?? '0'}`);
  const list = gpus.flatMap(({ index, uuid, slices = [] }) => [
    `GPU ${index}: Fake GPU (UUID: ${uuid})`,
    ...slices.map((slice, at) => `  MIG 1g.10gb     Device  ${at}: (UUID: ${slice.uuid})`),
  ]);
  const report = gpus.flatMap(({ uuid, bus, slices = [] }) => [
    `GPU ${bus}`,
    '    MIG Mode',
    `    GPU UUID                              : ${uuid}`,
    ...slices.flatMap(({ gpuInstance, computeInstance }, at) => [
      '    MIG Device',
      `        Index                             : ${at}`,
      `        GPU Instance ID                   : ${gpuInstance}`,
      `        Compute Instance ID               : ${computeInstance}`,
    ]),
  ]);
  const print = (lines: readonly string[]) => `cat <<'END'\n${lines.join('\n')}\nEND`;
  return `#!/bin/sh
case "$1" in
  --query-gpu=index,*) ${print(rows)}
;;
  --query-gpu=uuid,*) ${print(used)}
;;
  -L) ${print(list)}
;;
  -q) ${print(report)}
;;
  *) exit 2 ;;
esac
`;
}
