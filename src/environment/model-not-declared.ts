/** The agent's mistake: it asks for a language model that it did not declare, so the run has none. */
export class ModelNotDeclared extends Error {
  override readonly name = 'ModelNotDeclared';

  constructor() {
    super(
      'The agent calls environment.ask, but does not declare that it needs a model: set needs: { model: true, reference: false }.',
    );
  }
}
