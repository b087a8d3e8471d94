import { calleeName, childrenOf, type SyntaxNode } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { calledName, calleeText, inLines, moduleOf, type TorchScript, written } from './script.ts';
import { hiddenLinears, innerConvolutions } from './shapes.ts';

/** Other activations between layers; those of outputs and gates stay unchanged. */
export function swapActivations(script: TorchScript): Rewrite[] {
  const saturating = inner(script, /^(?:sigmoid|tanh|Sigmoid|Tanh|hardtanh|Hardtanh|softsign|Softsign)$/);
  const plain = inner(script, /^(?:relu|ReLU)$/);
  return [
    ...swapped(script, saturating, 'ReLU', 'relu', {
      name: 'torch: ReLU',
      reason: 'sigmoid and tanh let little gradient through where they are flat (Glorot et al. 2011).',
      weight: 0.7,
      effort: 1,
    }),
    ...swapped(script, [...saturating, ...plain], 'GELU', 'gelu', {
      name: 'torch: GELU',
      reason: 'a smooth activation is often a little better (Hendrycks and Gimpel 2016).',
      weight: 0.25,
      effort: 1.1,
    }),
  ];
}

function swapped(
  script: TorchScript,
  calls: readonly SyntaxNode[],
  layer: string,
  plain: string,
  rest: Pick<Rewrite, 'name' | 'reason' | 'weight' | 'effort'>,
): Rewrite[] {
  const { source } = script;
  if (calls.length === 0) return [];
  const edits = calls.flatMap((call) => {
    const callee = call.firstChild;
    if (callee === null) return [];
    // A module is created in place; a function may be torch's own, which has no gelu.
    const isModule = /^[A-Z]/.test(calleeName(source, call));
    const module = moduleOf(source, call, isModule ? 'torch.nn' : 'torch.nn.functional');
    const prefix = isModule || module !== 'torch' ? module : 'torch.nn.functional';
    const isInPlace = isModule && /inplace/.test(source.slice(callee.to, call.to));
    const to = isInPlace ? call.to : callee.to;
    return [{ from: call.from, to, text: `${prefix}.${isModule ? layer : plain}${isInPlace ? '()' : ''}` }];
  });
  return written(script, {
    ...rest,
    change: `${layer} as the activation ${inLines(source, calls)}.`,
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
