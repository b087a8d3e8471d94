/** The run was stopped from outside (Ctrl-C); it can be resumed. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
}
