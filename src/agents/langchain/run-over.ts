/** Thrown through LangChain's executor, which knows no other way to be stopped: there is nothing more to do. */
export class RunOver extends Error {
  override readonly name = 'RunOver';
}

/** The conversation is too long for the model: it may be shortened and asked again. */
export class ContextTooLong extends Error {
  override readonly name = 'ContextTooLong';
}
