import { release } from 'node:os';

/**
 * Why agent code can't be confined on this system, and what to do; null on Linux. Containers don't help elsewhere: they
 * would get this system's Python environments, which no Linux container can run.
 */
export function platformObstacle(
  platform: NodeJS.Platform = process.platform,
  kernel: string = release(),
): { reason: string; fix: string } | null {
  switch (platform) {
    case 'linux':
      // WSL 2 has a Linux kernel; WSL 1 imitates one, without namespaces.
      return /microsoft/i.test(kernel) && !/microsoft-standard|wsl2/i.test(kernel)
        ? { reason: 'WSL 1 has no Linux kernel', fix: 'wsl --set-version <distribution> 2' }
        : null;
    case 'darwin':
      return {
        reason: 'agents run in Linux sandboxes, which macOS does not have',
        fix: 'run mlab in a Linux virtual machine, for example with Lima: limactl start && limactl shell default',
      };
    case 'win32':
      return {
        reason: 'agents run in Linux sandboxes, which Windows does not have',
        fix: 'run mlab in WSL 2: wsl --install',
      };
    default:
      return {
        reason: `agents run in Linux sandboxes, which ${platform} does not have`,
        fix: 'run mlab on Linux, or in a Linux virtual machine',
      };
  }
}
