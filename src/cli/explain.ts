import { CommanderError } from 'commander';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { missingPackageHint } from '../lib/missing-package.ts';
import { type ExitCode, exitCodes } from './context.ts';

/** An error as shown to people and programs. */
export interface Explanation {
  code: string;
  exitCode: ExitCode;
  message: string;
  hint: string;
}

/** Errors to fix outside the command line: something is missing or can't be obtained. */
const missingCodes: ReadonlySet<string> = new Set([
  ...['no_python', 'old_python', 'no_venv', 'no_package', 'pip_failed', 'build_failed', 'broken_environment'],
  ...['offline', 'network', 'not_found', 'server_error', 'no_access', 'not_in_mirror', 'no_checksum'],
  ...['wrong_checksum', 'wrong_size', 'html_page', 'bad_redirect', 'unsafe_redirect', 'too_many_redirects'],
  ...['kaggle_credentials', 'kaggle_rules', 'kaggle_competition', 'prepare_failed', 'bad_archive'],
  ...['cache_not_writable', 'disk_full', 'withheld_missing', 'no_temporary_folder', 'output_not_written'],
  ...['key_missing', 'base_url_missing', 'base_url_invalid', 'langchain_missing'],
  ...['no_redis', 'redis_refused', 'redis_refuses_writes', 'no_redis_library'],
  ...['no_slurm', 'scheduler_unreachable', 'no_kubernetes', 'no_kubernetes_client'],
  ...['no_s3_library', 'no_artifact_store'],
]);

/** Errors of the operating system, and what to check. */
const systemHints: Readonly<Record<string, string>> = {
  EACCES: 'Check who may read and write there, or name another folder (--dir, MLAB_CACHE).',
  EPERM: 'Check who may read and write there, or name another folder (--dir, MLAB_CACHE).',
  EROFS: 'The place is read-only: copy it elsewhere, or name another folder (--dir, MLAB_CACHE).',
  ENOSPC: 'The disk is full: free some space; then run the same command again to resume.',
  EDQUOT: 'Your disk quota is used up: free some space; then run the same command again to resume.',
  ENOTDIR: 'A part of the path is a file: name another folder (--dir, MLAB_CACHE).',
  EISDIR: 'There is a folder where a file is expected.',
  ENAMETOOLONG: 'The path is too long: name a shorter folder or experiment (--dir, --name).',
  EMFILE: 'Too many files are open: raise `ulimit -n`, or lower --parallel.',
  ENFILE: 'Too many files are open on this machine.',
  EAGAIN: 'Too many processes are running: lower --parallel, or raise `ulimit -u`.',
  ENOMEM: 'Out of memory: lower --parallel.',
  EIO: 'The disk or its network reports a fault.',
  ESTALE: 'The network folder is no longer available.',
};

/** Commands that begin anew, and what they leave. */
const afterStop: Readonly<Record<string, string>> = {
  'mlab tasks new':
    'If its folder was written, its figures are placeholders: measure them with mlab tasks baseline --write.',
  'mlab tasks check': 'Nothing is kept: the same command checks everything again.',
  'mlab tasks baseline': 'Nothing was written: the same command measures all seeds again.',
};

/**
 * @param aborted the user asked to stop: any other error follows from that
 * @param called the command, such as `mlab runs show`; empty if none was called
 */
export function explain(error: unknown, aborted: boolean, called = ''): Explanation {
  if (aborted) {
    const code = 'interrupted';
    const exitCode = exitCodes.interrupted;
    if (UserError.isInstance(error) && error.code === 'part_left')
      return { code, exitCode, message: `Stopped. ${error.message}`, hint: error.hint };
    const hint = afterStop[called] ?? 'Run the same command again to resume.';
    return { code, exitCode, message: 'Stopped.', hint };
  }
  if (UserError.isInstance(error)) {
    const { code, message, hint } = error;
    return { code, exitCode: missingCodes.has(code) ? exitCodes.missing : exitCodes.usage, message, hint };
  }
  if (error instanceof CommanderError) {
    // The help was shown instead of an error.
    const isHelp = error.code === 'commander.help';
    const message = isHelp ? 'a command is missing' : error.message.replace(/^error: /, '');
    const known = called === '' ? 'mlab --help lists the commands.' : `${called} --help shows how to use it.`;
    const hint = isHelp ? '' : known;
    return { code: 'usage', exitCode: exitCodes.usage, message, hint };
  }
  if (error instanceof Error && error.name === 'SandboxError' && 'hint' in error) {
    const hint = `${String(error.hint)}\nRun mlab doctor for details.`;
    return { code: 'sandbox', exitCode: exitCodes.missing, message: error.message, hint };
  }
  if (error instanceof Error && error.name === 'GraderFailed') {
    const hint =
      missingPackageHint(error.message) ??
      'If the grader is wrong, fix hidden/grade.py of the task; mlab tasks check runs it.';
    return { code: 'grader_failed', exitCode: exitCodes.negative, message: error.message, hint };
  }
  if (hasCode(error, 'ERR_MODULE_NOT_FOUND')) {
    const hint =
      'Its npm packages are being installed, or are incomplete: wait, or install them again (npm start in a clone).';
    return { code: 'no_npm_package', exitCode: exitCodes.missing, message: messageOf(error), hint };
  }
  const systemHint = hintOfSystemError(error);
  if (systemHint !== null)
    return { code: 'system', exitCode: exitCodes.missing, message: messageOf(error), hint: systemHint };
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const message = `This is a bug in mlab: ${messageOf(error)}`;
  return { code: 'internal', exitCode: exitCodes.internal, message, hint: stack };
}

function hintOfSystemError(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  const call = 'syscall' in error ? error.syscall : null;
  if (call === 'uv_cwd') return 'The current folder was deleted: change to another one.';
  // Node's recursive mkdir says it of a read-only file system, too.
  if (error.code === 'ENOENT' && call === 'mkdir')
    return "The folder can't be created: the place may be read-only. Name another one.";
  return Object.hasOwn(systemHints, error.code) ? (systemHints[error.code] ?? null) : null;
}
