import { calleeName, childrenOf, type SyntaxNode } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { calledName, calleeText, inLines, moduleOf, type TorchScript, written } from './script.ts';
import { hiddenLinears, innerConvolutions } from './shapes.ts';

/** ReLU between layers; the activations of outputs and gates stay unchanged. */
export function replaceActivations(script: TorchScript): Rewrite[] {
  const { source } = script;
  const calls = inner(script, /^(?:sigmoid|tanh|Sigmoid|Tanh|hardtanh|Hardtanh|softsign|Softsign)$/);
  if (calls.length === 0) return [];
  const edits = calls.flatMap((call) => {
    const callee = call.firstChild;
    if (callee === null) return [];
    // A module is created in place.
    const isModule = /^[A-Z]/.test(calleeName(source, call));
    const module = moduleOf(source, call, isModule ? 'torch.nn' : 'torch.nn.functional');
    const isInPlace = isModule && /inplace/.test(source.slice(callee.to, call.to));
    const to = isInPlace ? call.to : callee.to;
    return [{ from: call.from, to, text: `${module}.${isModule ? 'ReLU' : 'relu'}${isInPlace ? '()' : ''}` }];
  });
  return written(script, {
    name: 'torch: ReLU',
    change: `ReLU as the activation ${inLines(source, calls)}.`,
    reason: 'sigmoid and tanh let little gradient through where they are flat (Glorot et al. 2011).',
    weight: 0.7,
    effort: 1,
    imports: ['import torch'],
    edits,
  });
}

/** Activations whose output goes into another layer. */
function inner(script: TorchScript, kinds: RegExp): SyntaxNode[] {
  const { source } = script;
  const holders = new Set(
    [...hiddenLinears(script), ...innerConvolutions(script)].flatMap(({ holder }) =>
      holder === null ? [] : [holder],
    ),
  );
  const layers = script.models.flat();
  return script.calls.filter((call) => {
    const name = calledName(script, call);
    if (!/^torch\./.test(name) || !kinds.test(calleeName(source, call))) return false;
    if (/^[A-Z]/.test(calleeName(source, call))) {
      const list = call.parent;
      return layers.some((layer) => list?.name === 'ArgList' && isElementAfter(list, layer.call, call));
    }
    // sigmoid(self.hidden(x))
    return childrenOf(call.getChild('ArgList') ?? call).some((argument) => {
      const [, held] =
        /^self\.(\w+)$/.exec(argument.name === 'CallExpression' ? calleeText(source, argument) : '') ?? [];
      return held !== undefined && holders.has(held);
    });
  });
}

function isElementAfter(list: SyntaxNode, layer: SyntaxNode, activation: SyntaxNode): boolean {
  return layer.from > activation.to && layer.from > list.from && layer.to < list.to;
}
