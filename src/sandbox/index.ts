export { giveToAgent } from './agent-user.ts';
export { checkSandbox } from './check-sandbox.ts';
export { createSandbox, type SandboxOptions, sandboxOptions } from './create-sandbox.ts';
export { clearGpu } from './gpus/clear-gpu.ts';
export { cudaObstacle } from './gpus/cuda-obstacle.ts';
export { type Gpu, type GpuSystem, gpuSystemOf } from './gpus/gpu.ts';
export { GpuSampler, type GpuUse } from './gpus/gpu-sampler.ts';
export { listGpus } from './gpus/list-gpus.ts';
export { limitsHeld } from './limits-held.ts';
export { type OutputPipe, OutputPipes } from './output-pipe.ts';
export { ownedFolder, ownedSocketFolder } from './owned-folder.ts';
export {
  type DoctorCheck,
  type FileDigest,
  type Mount,
  type ProcessEnd,
  type ProcessUsage,
  type PythonMount,
  type Sandbox,
  SandboxError,
  type SandboxLimits,
  type SandboxProcess,
  type SandboxSpec,
  type StartOptions,
} from './sandbox.ts';
export { trySandbox } from './try-sandbox.ts';
export { openWorkspaceVolume, type WorkspaceHolder, whyNoVolume } from './workspace-volume.ts';
