import { expect, test } from 'vitest';
import { crashCause } from './crash-cause.ts';

test('the cause of a Python traceback is its last line, with the place where it was raised', () => {
  const message = `The program ended with exit code 1. It printed last:
Traceback (most recent call last):
  File "/agent/main.py", line 12, in <module>
    run()
  File "/agent/crash.py", line 8, in run
    print(found["nothing"])
          ~~~~~^^^^^^^^^^^
KeyError: 'nothing'
`;
  expect(crashCause(message)).toBe("KeyError: 'nothing' (crash.py, line 8)");
});

test('the cause of any other error is its message without the frames of the stack', () => {
  expect(crashCause('Error: no such thing\n    at run (/agent/mine.ts:3:9)')).toBe('Error: no such thing');
  expect(crashCause('no\nbwrap')).toBe('no\nbwrap');
  expect(crashCause('')).toBe('');
});

test('that a language model did not answer is left out, since the reason follows', () => {
  const message = 'No answer from the language model: workshop: the connection failed.';
  expect(crashCause(message)).toBe('workshop: the connection failed.');
});
