import type { Context } from './context.ts';

type Surroundings = Pick<Context, 'variables' | 'isTerminal' | 'log'>;

/** Whether a person is likely to see a browser that this machine opens. */
export function hasScreen({ variables, isTerminal }: Pick<Context, 'variables' | 'isTerminal'>): boolean {
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = variables;
  if (!isTerminal || SSH_CONNECTION !== undefined) return false;
  if (process.platform !== 'linux') return true;
  return [DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME].some((one) => one !== undefined && one !== '');
}

/** Opens the address if there is a screen. The address is printed in any case, so nothing depends on the browser. */
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
