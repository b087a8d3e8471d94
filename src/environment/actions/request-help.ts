import { z } from 'zod';
import { defineAction } from '../action.ts';
import { cutMiddle } from '../output.ts';
import { done } from './outcomes.ts';

const requestHelp = defineAction({
  name: 'Request Help',
  description: 'Asks the person watching the run and waits for the answer.',
  returns: 'The answer of the person.',
  args: { request: z.string().min(1).describe('what help is needed, and for what') },
  needs: 'person',
  run: async (context, { request }) => {
    const answer = await context.askPerson(request);
    return done(answer.trim() === '' ? 'The person gave no answer.' : cutMiddle(answer));
  },
});

export const helpActions = [requestHelp];
