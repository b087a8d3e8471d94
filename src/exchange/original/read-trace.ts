import { z } from 'zod';
import { mostOf, type ReadingBudget } from './limits.ts';
import { OriginalStep } from './original-run.ts';
import { readTornJson } from './torn-json.ts';

const Trace = z.object({
  steps: z.array(z.unknown()).catch([]),
  low_level_steps: z.array(z.unknown()).catch([]),
  task_description: z.string().catch(''),
});

export interface OriginalTrace {
  steps: OriginalStep[];
  innerSteps: OriginalStep[];
  problem: string;
  gaps: string[];
}

/** Reads the text of a trace.json, complete or truncated: every complete step. */
export function readOriginalTrace(text: string, budget: ReadingBudget): OriginalTrace {
  const { value, torn, refused } = readTornJson(text, budget);
  const parsed = Trace.safeParse(value);
  if (!parsed.success)
    return { steps: [], innerSteps: [], problem: '', gaps: [`trace ${refused ?? 'unreadable'}`] };
  const { steps, low_level_steps, task_description } = parsed.data;
  const [outer, inner] = [wholeSteps(steps, mostOf.steps), wholeSteps(low_level_steps, mostOf.innerSteps)];
  const gaps = [
    ...(torn || outer.length < steps.length ? [`trace cut off after step ${outer.length}`] : []),
    ...(!torn && inner.length < low_level_steps.length ? ['low-level steps cut off'] : []),
  ];
  return { steps: outer, innerSteps: inner, problem: task_description, gaps };
}

/** Up to the first incomplete one: later steps would get wrong numbers. */
function wholeSteps(values: readonly unknown[], most: number): OriginalStep[] {
  const steps: OriginalStep[] = [];
  for (const value of values.slice(0, most)) {
    const step = OriginalStep.safeParse(value);
    if (!step.success) break;
    steps.push(step.data);
  }
  return steps;
}
