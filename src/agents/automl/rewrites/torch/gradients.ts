import { nodesOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, type TorchScript, written } from './script.ts';

/** Code that uses gradients, or passes a model to a library that does. */
const asking =
  /\b(?:backward|requires_grad_?|autograd|functorch|enable_grad|set_grad_enabled|optim|jacrev|jacfwd|hessian|vjp|vmap)\b|\.grad\b|\bgrad\(|torch\.func\b|lightning|accelerate|Trainer\b/;

/** Turns gradients off in a script that uses none. */
export function leaveOutGradients(script: TorchScript): Rewrite[] {
  const { source, top, imports } = script;
  // The user of the submitted script may need its gradients.
  if (/gradient|backward|differentiable/i.test(script.surroundings.task.problem)) return [];
  const other = imports.get('torch') ?? 'torch';
  const code = nodesOf(top, 'Comment').reduceRight(
    (text, { from, to }) => text.slice(0, from) + text.slice(to),
    source,
  );
  if (asking.test(code) || other !== 'torch' || script.calls.length === 0) return [];
  const first = nodesOf(top, 'ImportStatement').slice(0, 1);
  return written(script, {
    name: 'torch: no gradients',
    change: `Gradients are switched off below the imports from ${inLines(source, first).slice(3)} on.`,
    reason: 'what gradients would need is neither noted nor kept, and nothing here asks for them.',
    weight: 0.9,
    effort: 1,
    edits: [],
    imports: ['import torch'],
    belowImports: ['torch.set_grad_enabled(False)'],
  });
}
