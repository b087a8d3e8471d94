import { expect, test } from 'vitest';
import { errorEvent } from './signs-of-life.ts';

test('an error of several lines is one line of an event, however much space there is in it', () => {
  expect(errorEvent('messages', '{"a":\r\n  1,\n \n"b": 2}\n')).toBe(
    'event: error\ndata: {"a": 1, "b": 2}\n\n',
  );
  const space = ' '.repeat(2 ** 22);
  expect(errorEvent('messages', `${space}x`)).toBe('event: error\ndata: x\n\n');
  expect(errorEvent('messages', `x${'\n '.repeat(2 ** 21)}y`)).toBe('event: error\ndata: x y\n\n');
  expect(errorEvent('generate_content', '{\n"a": 1}')).toBe('{ "a": 1}\n');
});
