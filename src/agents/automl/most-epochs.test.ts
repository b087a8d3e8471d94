import { describe, expect, it } from 'vitest';
import { briefOf } from '../../../test/fakes/fake-environment.ts';
import { maxEpochs } from './most-epochs.ts';
import { tunableKnobs } from './versions.ts';

describe('a limit of epochs', () => {
  it.each([
    ['Train for **10 epochs at most**, that is, ten times.', 10],
    ['Use no more than 3 training epochs. The script trains for 50 epochs.', 3],
    ['You must stay within 12 epochs', 12],
    ['`train.py` trains a network for 5 epochs and prints its accuracy.', null],
    ['There are at most 10 classes.', null],
    ['', null],
  ])('is read from %j', (problem, epochs) => {
    expect(maxEpochs(problem)).toBe(epochs);
  });

  it('limits the numbers of a script, in addition to its own limits', () => {
    const source = 'EPOCHS = 5\nmax_iter = 100\n';
    const boundOf = (problem: string) =>
      tunableKnobs(source, briefOf({ problem })).map(({ prior }) => prior.most);
    expect(boundOf('Train for 8 epochs at most.')).toEqual([8, 1e6]);
    expect(boundOf('Train for 3 epochs at most.')).toEqual([5, 1e6]);
    expect(boundOf('Train as you like.')).toEqual([1e6, 1e6]);
  });
});
