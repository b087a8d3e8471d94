import type { Environment } from '../../environment/index.ts';
import type { Action, ActionStatus } from '../../schema/index.ts';
import { heldBack } from './dialogue/prompts.ts';
import { StateTracker } from './dialogue/state-tracker.ts';

/** The result of an action, or of holding it back. */
export interface Taken {
  status: ActionStatus | 'held back';
  observation: string;
  /** The run is over. */
  ended: boolean;
}

/** Takes steps and tracks the run's state. It holds back a final answer once if there is no fresh submission. */
export class CarefulSteps {
  readonly state: StateTracker;
  readonly #environment: Environment;
  #hasHeldBack = false;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.state = new StateTracker(environment.task, environment.budget);
  }

  async take(action: Action): Promise<Taken> {
    const objection = isFinalAnswer(action) && !this.#hasHeldBack ? this.state.objection() : null;
    if (objection !== null) {
      this.#hasHeldBack = true;
      return { status: 'held back', observation: heldBack(objection), ended: false };
    }
    const result = await this.#environment.step(action);
    this.state.follow(action, result);
    return result;
  }
}

/** A final answer with wrong arguments ends nothing, and is left to the environment. */
function isFinalAnswer({ name, args }: Action): boolean {
  return (
    name === 'Final Answer' &&
    typeof args === 'object' &&
    args !== null &&
    typeof args.final_answer === 'string'
  );
}
