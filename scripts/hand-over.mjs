import { spawn } from 'node:child_process';

/**
 * Runs a program in place of this one, with the same terminal and signals. Resolves with how it ended; rejects if it
 * can't be started.
 *
 * Ctrl-C at a terminal reaches every process in the foreground, so it is not forwarded there: the program would get it
 * twice and take the second one as "stop at once". Without a terminal all signals are forwarded.
 */
export function handOver(command, args, options = {}) {
  const atTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  return new Promise((resolve, reject) => {
    // A launcher that is killed can't forward signals, so the program checks whether it is still alive.
    const env = { ...process.env, ...options.env, MLAB_LAUNCHER: String(process.pid) };
    const child = spawn(command, args, { stdio: 'inherit', ...options, env });
    const forward = (signal) => {
      const reachedByTerminal = atTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
      if (!reachedByTerminal) child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    const settle = (finish) => (value, signal) => {
      for (const name of signals) process.off(name, forward);
      finish(value, signal);
    };
    child.once('error', settle(reject));
    child.once(
      'exit',
      settle((code, signal) => resolve({ code, signal })),
    );
  });
}

/** Ends this process as the program ended: with its exit code, or by the same signal. */
export function endAs({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  process.exitCode = code ?? 1;
}
