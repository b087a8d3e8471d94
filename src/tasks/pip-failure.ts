import { UserError } from '../lib/errors.ts';
import { type ProcessResult, tail } from './run-process.ts';

const noConnection =
  /NewConnectionError|NameResolutionError|Temporary failure in name resolution|Network is unreachable|ConnectTimeoutError|Name or service not known|ProxyError|Connection refused|nodename nor servname/;

/** Whether pip found no distribution that it may use: perhaps there is only a source package. */
export function hasNoWheel(output: string): boolean {
  return /No matching distribution found|Could not find a version/.test(output) && !noConnection.test(output);
}

/**
 * Explains pip's output to a person.
 * @param log file with all of it
 */
export function explainPipFailure(result: ProcessResult, log: string): UserError {
  const ending = result.signal === null ? `exit code ${result.exitCode}` : `signal ${result.signal}`;
  const said = `pip could not install the task's packages (${ending}):\n${tail(result.output)}`;
  if (noConnection.test(result.output)) {
    return new UserError(
      'offline',
      said,
      'connect to the network, or point pip at a folder of wheels: PIP_NO_INDEX=1 PIP_FIND_LINKS=<folder>',
    );
  }
  if (/No space left on device/.test(result.output)) {
    return new UserError(
      'disk_full',
      said,
      `free some disk space or set MLAB_CACHE to another disk; log: ${log}`,
    );
  }
  if (/DO NOT MATCH THE HASHES/.test(result.output)) {
    return new UserError(
      'wrong_checksum',
      said,
      `the files of the index are not those in the task's lock file: check PIP_INDEX_URL and \`pip config list\`; log: ${log}`,
    );
  }
  if (hasNoWheel(result.output)) {
    const none = /from versions: none/.test(result.output);
    return new UserError(
      'no_package',
      said,
      `${none ? 'no version at all was found: can pip reach its index? Else ' : ''}the pinned version may have no wheel for this Python: try another interpreter, correct requirements.txt, have it built from source ("build" in task.yaml), or build the wheel yourself and name its folder in PIP_FIND_LINKS; log: ${log}`,
    );
  }
  return new UserError('pip_failed', said, `the full log is ${log}`);
}
