import type { Context } from './context.ts';

type Surroundings = Pick<Context, 'variables' | 'isTerminal' | 'log'>;

/** Whether a person sits before this machine's own screen. */
export function hasScreen({ variables, isTerminal }: Pick<Context, 'variables' | 'isTerminal'>): boolean {
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = variables;
  if (!isTerminal || SSH_CONNECTION !== undefined) return false;
  if (process.platform !== 'linux') return true;
  return [DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME].some((one) => one !== undefined && one !== '');
}

/** Opens the address where there is a screen; the address is printed in any case, so that nothing depends on it. */
export async function openBrowser(context: Surroundings, url: string): Promise<void> {
  if (!hasScreen(context)) return;
  try {
    const { default: open } = await import('open');
    const started = await open(url);
    started.on('error', () => context.log('No browser could be started; open the address yourself.'));
  } catch {
    context.log('No browser could be started; open the address yourself.');
  }
}
