import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../lib/errors.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { findUserSwitch } from './agent-user.ts';
import { installHint } from './bubblewrap.ts';
import { DockerEngine, usualEngine } from './docker-engine.ts';
import { findProgram } from './find-program.ts';
import { cudaObstacle } from './gpus/cuda-obstacle.ts';
import { type Gpu, gpuSystemOf } from './gpus/gpu.ts';
import { gpuDeviceFiles, listGpus } from './gpus/list-gpus.ts';
import { findLimiter } from './limits/find-limiter.ts';
import type { Limiter } from './limits/limiter.ts';
import { ownedFolder } from './owned-folder.ts';
import { platformObstacle } from './platform.ts';
import { type DoctorCheck, SandboxError } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { trySandbox, withGpuSandbox } from './try-sandbox.ts';
import { userNamespaceObstacle } from './user-namespaces.ts';
import { openWorkspaceVolume, whyNoVolume } from './workspace-volume.ts';

const delegate = 'systemd-run --user --scope --property Delegate=yes mlab run …';

type Variables = Readonly<Record<string, string | undefined>>;

/** What sandboxes can and can't do on this host, for this user: tried, not guessed. Takes some tenths of a second. */
export async function checkSandbox(variables: Variables = {}): Promise<DoctorCheck[]> {
  const obstacle = platformObstacle();
  if (obstacle !== null)
    return [{ name: 'sandbox', state: 'missing', detail: obstacle.reason, fix: obstacle.fix }];
  const limiter = await findLimiter();
  return [
    await checkBubblewrap(),
    checkLimits(limiter),
    await checkWorkspaceLimit(),
    await checkEngines(variables),
    await checkGpus(variables),
  ];
}

async function checkBubblewrap(): Promise<DoctorCheck> {
  const name = 'bubblewrap';
  const program = findProgram('bwrap');
  if (program === null) return { name, state: 'missing', detail: 'bwrap is not installed', fix: installHint };
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { env: {} });
    await trySandbox('bubblewrap');
    if (process.getuid?.() === 0 && (await findUserSwitch(program)) === null) {
      const detail = `${stdout.trim()} works, but can't run agent code as another user than root here, so its files belong to root`;
      return { name, state: 'warning', detail, fix: 'run mlab as an ordinary user' };
    }
    return {
      name,
      state: 'ok',
      detail: `${stdout.trim()}, works for this user${filterNote()}`,
      fix: null,
    };
  } catch (error) {
    const obstacle = userNamespaceObstacle();
    const hint = SandboxError.isInstance(error) ? error.hint : installHint;
    return {
      name,
      state: 'missing',
      detail: obstacle?.reason ?? messageOf(error),
      fix: obstacle?.fix ?? hint,
    };
  }
}

function filterNote(): string {
  return seccompFilter() === null ? `; no system call filter for ${process.arch}` : '';
}

function checkLimits(limiter: Limiter): DoctorCheck {
  const name = 'limits';
  switch (limiter.mechanism) {
    case 'cgroup v2':
      return { name, state: 'ok', detail: 'cgroup v2, delegated to this user', fix: null };
    case 'cgroup v1':
      return { name, state: 'ok', detail: 'cgroup v1, writable', fix: null };
    case 'rlimits and watchdog':
      return {
        name,
        state: 'warning',
        detail: `no cgroups for this user: limits apply to single processes, and a watchdog measures their sum and kills; memory can exceed its limit for a moment, and kernel memory such as locks is not counted`,
        fix: existsSync('/run/systemd/system') ? delegate : null,
      };
  }
}

async function checkWorkspaceLimit(): Promise<DoctorCheck> {
  const reason = whyNoVolume() ?? (await tryVolume());
  const detail =
    reason === null
      ? 'each run gets a file system of its own size, so the kernel enforces the limit'
      : `a watchdog enforces the limit, so it can be exceeded for a moment, by more than 100 MiB on a busy machine (${reason})`;
  return { name: 'workspace', state: 'ok', detail, fix: null };
}

async function tryVolume(): Promise<string | null> {
  const folder = ownedFolder('doctor');
  try {
    await using volume = await openWorkspaceVolume(join(folder, 'workspace'), 2 ** 20);
    return volume.reason;
  } finally {
    removeTree(folder);
  }
}

async function checkEngines({ MLAB_DOCKER: named }: Variables): Promise<DoctorCheck> {
  const name = 'container engine';
  const used = named || usualEngine();
  const problems: string[] = [];
  for (const command of new Set([used, 'docker', 'podman'])) {
    if (findProgram(command) === null) continue;
    try {
      const engine = await DockerEngine.connect(command);
      const unlimited = await unlimitedBy(engine);
      const detail = `\`${command}\` answers`;
      if (command !== used) {
        const others = `${detail}, but runs use ${used}: ${problems.join('; ')}`;
        return { name, state: 'warning', detail: others, fix: `export MLAB_DOCKER=${command}` };
      }
      if (unlimited.length === 0) return { name, state: 'ok', detail, fix: null };
      const warning = `${detail}, but can't limit ${unlimited.join(' and ')} here: a container may use all of it`;
      return { name, state: 'warning', detail: warning, fix: null };
    } catch (error) {
      problems.push(messageOf(error).split('\n').slice(0, 2).join(' '));
    }
  }
  const detail = problems.length === 0 ? 'neither docker nor podman is installed' : problems.join('; ');
  const fix = problems.length === 0 ? 'sudo apt-get install docker.io' : 'sudo systemctl start docker';
  return { name, state: 'warning', detail: `${detail} (needed only for the docker driver)`, fix };
}

const DockerInfo = z.object({ MemoryLimit: z.boolean(), PidsLimit: z.boolean() });
const PodmanInfo = z.object({
  host: z.object({
    cgroupVersion: z.string(),
    cgroupControllers: z.array(z.string()).nullish(),
    security: z.object({ rootless: z.boolean() }),
  }),
});

/** Which of memory and processes the engine can't limit. */
async function unlimitedBy(engine: DockerEngine): Promise<string[]> {
  const info: unknown = JSON.parse(await engine.ask(['info', '--format', '{{json .}}']));
  if (!engine.isPodman) {
    const { MemoryLimit, PidsLimit } = DockerInfo.parse(info);
    return [...(MemoryLimit ? [] : ['memory']), ...(PidsLimit ? [] : ['processes'])];
  }
  const { host } = PodmanInfo.parse(info);
  if (host.cgroupVersion === 'v1') return host.security.rootless ? ['memory', 'processes'] : [];
  const controllers = host.cgroupControllers ?? [];
  return [
    ...(controllers.includes('memory') ? [] : ['memory']),
    ...(controllers.includes('pids') ? [] : ['processes']),
  ];
}

async function checkGpus(variables: Variables): Promise<DoctorCheck> {
  const name = 'GPU';
  const system = gpuSystemOf(variables);
  const gpus = await listGpus(system, variables.CUDA_VISIBLE_DEVICES);
  if (gpus.length > 0) {
    const detail = gpus.map((gpu) => `${gpu.name}${gpuSize(gpu)} ${gpu.uuid}`).join(', ');
    const missing = [...new Set(gpus.flatMap(({ devices }) => devices.map(({ source }) => source)))].filter(
      (path) => !existsSync(path),
    );
    if (missing.length === 0) return await tryGpus(gpus, detail);
    const without = `${detail}; without device files: ${missing.join(', ')}`;
    return { name, state: 'warning', detail: without, fix: 'sudo nvidia-modprobe -c 0 -u' };
  }
  if (gpuDeviceFiles(system.dev).length > 0) {
    const detail = `GPU device files exist, but ${system.smi} lists none that can be used here`;
    return { name, state: 'warning', detail, fix: 'install nvidia-smi, or set MLAB_NVIDIA_SMI to its path' };
  }
  if (existsSync(system.proc)) {
    const detail = 'the NVIDIA driver is loaded, but its device files are missing';
    return { name, state: 'warning', detail, fix: 'sudo nvidia-modprobe -c 0 -u' };
  }
  return { name, state: 'warning', detail: 'none found; needed only for runs with a GPU', fix: null };
}

/** Whether a sandbox can compute on them; without a Python in /usr, that is not known. */
async function tryGpus(gpus: readonly Gpu[], detail: string): Promise<DoctorCheck> {
  const name = 'GPU';
  const known: DoctorCheck = { name, state: 'ok', detail, fix: null };
  if (findProgram('bwrap') === null || !existsSync('/usr/bin/python3')) return known;
  const obstacle = await withGpuSandbox(gpus, (sandbox) => cudaObstacle(sandbox, gpus));
  if (obstacle === null) return known;
  const fix = "put the folder of the driver's library libcuda.so.1 into LD_LIBRARY_PATH";
  return { name, state: 'warning', detail: `${detail}; not usable in a sandbox: ${obstacle}`, fix };
}

function gpuSize({ memoryMb }: Gpu): string {
  return memoryMb === null ? '' : ` (${Math.round(memoryMb / 1024)} GiB)`;
}
