import { describe, expect, test } from 'vitest';
import { OwnAsyncDisposableStack, OwnDisposableStack } from './disposable-stack.ts';

describe.each([
  ["Node's", globalThis.DisposableStack, globalThis.AsyncDisposableStack],
  ['the own', OwnDisposableStack, OwnAsyncDisposableStack],
])('%s stack', (_, Stack, AsyncStack) => {
  test('disposes of all in reverse order, even if some fail', () => {
    const said: string[] = [];
    const stack = new Stack();
    expect(stack.use({ [Symbol.dispose]: () => said.push('used') })).toBeDefined();
    expect(stack.use(null)).toBe(null);
    stack.defer(() => {
      throw new Error('no');
    });
    expect(stack.adopt(3, (value) => said.push(`adopted ${value}`))).toBe(3);
    expect(() => stack[Symbol.dispose]()).toThrow('no');
    expect(said).toEqual(['adopted 3', 'used']);
    expect(stack.disposed).toBe(true);
    expect(() => stack.defer(() => {})).toThrow(ReferenceError);
  });

  test('hands all disposals over when it is moved', () => {
    const said: string[] = [];
    let moved: DisposableStack;
    {
      using stack = new Stack();
      stack.defer(() => said.push('over'));
      moved = stack.move();
    }
    expect(said).toEqual([]);
    moved.dispose();
    moved.dispose();
    expect(said).toEqual(['over']);
  });

  test('waits for each disposal before the next', async () => {
    const said: string[] = [];
    const stack = new AsyncStack();
    stack.use({ [Symbol.dispose]: () => said.push('at once') });
    stack.use({
      [Symbol.asyncDispose]: async () => {
        await new Promise(setImmediate);
        said.push('later');
      },
    });
    stack.defer(() => Promise.reject(new Error('no')));
    const moved = stack.move();
    await stack.disposeAsync();
    expect(said).toEqual([]);
    await expect(moved[Symbol.asyncDispose]()).rejects.toThrow('no');
    expect(said).toEqual(['later', 'at once']);
  });
});
