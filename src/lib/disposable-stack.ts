/**
 * `DisposableStack` for Node 22, which the package supports and which has none. Unlike Node's: if several disposals
 * fail, only the error of the last one is thrown.
 */
export class OwnDisposableStack implements DisposableStack {
  #disposals: (() => void)[] = [];
  #isDisposed = false;
  readonly [Symbol.toStringTag] = 'DisposableStack';

  get disposed(): boolean {
    return this.#isDisposed;
  }

  use<T extends Disposable | null | undefined>(value: T): T {
    if (value !== null && value !== undefined) this.defer(() => value[Symbol.dispose]());
    return value;
  }

  adopt<T>(value: T, onDispose: (value: T) => void): T {
    this.defer(() => onDispose(value));
    return value;
  }

  defer(onDispose: () => void): void {
    if (this.#isDisposed) throw new ReferenceError('The stack is disposed already.');
    this.#disposals.push(onDispose);
  }

  move(): DisposableStack {
    const moved = new OwnDisposableStack();
    moved.#disposals = this.#disposals;
    this.#disposals = [];
    this.#isDisposed = true;
    return moved;
  }

  dispose(): void {
    this.#isDisposed = true;
    const last = this.#disposals.pop();
    if (last === undefined) return;
    try {
      last();
    } finally {
      this.dispose();
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The same for asynchronous disposal. */
export class OwnAsyncDisposableStack implements AsyncDisposableStack {
  #disposals: (() => PromiseLike<void> | void)[] = [];
  #isDisposed = false;
  readonly [Symbol.toStringTag] = 'AsyncDisposableStack';

  get disposed(): boolean {
    return this.#isDisposed;
  }

  use<T extends AsyncDisposable | Disposable | null | undefined>(value: T): T {
    if (value !== null && value !== undefined)
      this.defer(() =>
        Symbol.asyncDispose in value ? value[Symbol.asyncDispose]() : value[Symbol.dispose](),
      );
    return value;
  }

  adopt<T>(value: T, onDispose: (value: T) => PromiseLike<void> | void): T {
    this.defer(() => onDispose(value));
    return value;
  }

  defer(onDispose: () => PromiseLike<void> | void): void {
    if (this.#isDisposed) throw new ReferenceError('The stack is disposed already.');
    this.#disposals.push(onDispose);
  }

  move(): AsyncDisposableStack {
    const moved = new OwnAsyncDisposableStack();
    moved.#disposals = this.#disposals;
    this.#disposals = [];
    this.#isDisposed = true;
    return moved;
  }

  async disposeAsync(): Promise<void> {
    this.#isDisposed = true;
    const last = this.#disposals.pop();
    if (last === undefined) return;
    try {
      await last();
    } finally {
      await this.disposeAsync();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disposeAsync();
  }
}

/** Node's own if it has one. */
export const DisposableStack: DisposableStackConstructor = globalThis.DisposableStack ?? OwnDisposableStack;
export const AsyncDisposableStack: AsyncDisposableStackConstructor =
  globalThis.AsyncDisposableStack ?? OwnAsyncDisposableStack;
