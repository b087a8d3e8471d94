import type { TaskBrief } from '../../../../schema/index.ts';
import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, written } from '../written.ts';
import { calledName, calleeText, type TorchScript } from './script.ts';

const readsLast = /\[\s*:\s*,\s*-1\s*(?:,\s*(?::|\.\.\.)\s*)?\]/;

/**
 * If the last position of something is read, it may be all that is read of a model's output: then the last layer needs
 * no other. That the results stay the same is found out by running it.
 */
export function useLastPosition(script: TorchScript, submitted: TaskBrief['submission']['files']): Rewrite[] {
  const { source, top } = script;
  if (!readsLast.test(source)) return [];
  const asked = submitted.flatMap((file) => ('defines' in file ? file.defines : []));
  const classes = nodesOf(top, 'ClassDefinition');
  const definitions = [...classes, ...nodesOf(top, 'FunctionDefinition')];
  const inputs = classes.flatMap((definition) => {
    const name = nameOf(source, definition);
    const mentions = (other: SyntaxNode) =>
      other.from !== definition.from &&
      nodesOf(other, 'VariableName').some((each) => textOf(source, each) === name);
    // A part of another model is read at all positions; a model that leaves the script may be.
    const isPart = classes.some(mentions);
    const isHandedIn = definitions.some(
      (each) => asked.includes(nameOf(source, each)) && (nameOf(source, each) === name || mentions(each)),
    );
    return isPart || isHandedIn ? [] : inputOfHead(script, definition);
  });
  return written(source, {
    name: 'torch: last position only',
    change: `The last layer ${inputs.length === 0 ? '' : inLines(source, inputs)} is given the last position alone.`,
    reason: 'only this position of its output may be read, and a linear layer treats each one by itself.',
    weight: 0.88,
    effort: 1,
    edits: inputs.map(({ from, to }) => ({ from, to, text: `(${source.slice(from, to)})[:, -1:]` })),
  });
}

function nameOf(source: string, definition: SyntaxNode): string {
  const name = definition.getChild('VariableName');
  return name === null ? '' : textOf(source, name);
}

/** The input of the linear layer whose output is what `forward` returns; nothing for other classes. */
function inputOfHead(script: TorchScript, definition: SyntaxNode): SyntaxNode[] {
  const { source } = script;
  const heads = nodesOf(definition, 'AssignStatement').flatMap((statement) => {
    const { firstChild, lastChild } = statement;
    const isLinear =
      lastChild?.name === 'CallExpression' && calledName(script, lastChild) === 'torch.nn.Linear';
    return isLinear && firstChild !== null ? [textOf(source, firstChild)] : [];
  });
  return nodesOf(definition, 'FunctionDefinition')
    .filter((method) => nameOf(source, method) === 'forward')
    .flatMap((forward) => {
      const call = nodesOf(forward, 'ReturnStatement').at(-1)?.firstChild?.nextSibling;
      if (call?.name !== 'CallExpression' || !heads.includes(calleeText(source, call))) return [];
      const [, input, ...others] = childrenOf(call.getChild('ArgList') ?? call);
      return others.length === 1 && input !== undefined && !textOf(source, input).endsWith('[:, -1:]')
        ? [input]
        : [];
    });
}
