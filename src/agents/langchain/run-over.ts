/** Thrown through LangChain's executor, which can't be stopped in another way, when there is nothing more to do. */
export class RunOver extends Error {
  override readonly name = 'RunOver';
}

/** The conversation is too long for the model: it may be shortened and sent again. */
export class ContextTooLong extends Error {
  override readonly name = 'ContextTooLong';
}
