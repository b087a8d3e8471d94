import { argumentOf } from './arguments.ts';
import { ancestorsOf, nodesOf, parsePython, type SyntaxNode, textOf } from './python-source.ts';
import { fullNameOf, importedNames } from './rewrites/python-edit.ts';

/** A PyTorch layer that a script creates. */
export interface Layer {
  call: SyntaxNode;
  /** PyTorch's name: `Conv2d`. */
  kind: string;
  /** Whether its output has the size of its input, as with normalisation. */
  keeps: boolean;
  /** The numbers of inputs and outputs, or of channels, if it is linear or a convolution. */
  into: SyntaxNode | null;
  out: SyntaxNode | null;
  /** The name of the attribute or variable that holds it, or that holds the module which it is part of. */
  holder: string | null;
}

const keeping = /Norm(?:[123]d)?$/;
const layers =
  /^(?:(?:Lazy)?Linear|Conv(?:Transpose)?[123]d|(?:LSTM|GRU|RNN)(?:Cell)?|Embedding(?:Bag)?|\w*Norm(?:[123]d)?)$/;

/**
 * The layers of each model of a script, in the order of the source: those of one class, of one `nn.Sequential`, or
 * of one function.
 */
export function modelsOf(source: string): Layer[][] {
  const imports = importedNames(source);
  const found = nodesOf(parsePython(source), 'CallExpression').flatMap((call) => {
    const layer = layerOf(source, call, imports);
    return layer === null ? [] : [layer];
  });
  const keyOf = ({ name, from }: SyntaxNode) => `${name} ${from}`;
  return [...Map.groupBy(found, ({ call }) => keyOf(modelOf(source, call, imports))).values()];
}

/** PyTorch's name of a module that is created here: `Linear`; null for other calls. */
export function moduleName(
  source: string,
  call: SyntaxNode,
  imports: ReadonlyMap<string, string>,
): string | null {
  const full = fullNameOf(source, call.firstChild, imports);
  return /^torch\.nn\.(?:modules\.\w+\.)?([A-Z]\w*)$/.exec(full ?? '')?.[1] ?? null;
}

function layerOf(source: string, call: SyntaxNode, imports: ReadonlyMap<string, string>): Layer | null {
  const kind = moduleName(source, call, imports);
  if (kind === null || !layers.test(kind)) return null;
  const what = /^Linear|^Conv/.exec(kind)?.[0];
  const [into, out] = ['in', 'out'].map((side, place) => {
    const name = `${side}_${what === 'Linear' ? 'features' : 'channels'}`;
    return what === undefined ? null : argumentOf(source, call, name, place);
  });
  const holder = holderOf(source, call);
  return { call, kind, keeps: keeping.test(kind), into: into ?? null, out: out ?? null, holder };
}

/** The class, the outermost `nn.Sequential`, or otherwise the function or the script in which a layer is created. */
function modelOf(source: string, call: SyntaxNode, imports: ReadonlyMap<string, string>): SyntaxNode {
  const ancestors = ancestorsOf(call);
  return (
    ancestors.find(({ name }) => name === 'ClassDefinition') ??
    ancestors.findLast(
      (each) => each.name === 'CallExpression' && moduleName(source, each, imports) === 'Sequential',
    ) ??
    ancestors.find(({ name }) => /^(?:FunctionDefinition|Script)$/.test(name)) ??
    call
  );
}

/** `conv` for `self.conv = nn.Sequential(nn.Conv2d(…), …)`. */
function holderOf(source: string, call: SyntaxNode): string | null {
  const statement = ancestorsOf(call).find(({ name }) => /Statement$|^Body$/.test(name));
  const target = statement?.name === 'AssignStatement' ? statement.firstChild : null;
  const held = target?.name === 'MemberExpression' ? target.lastChild : target;
  return held !== null && /^(?:VariableName|PropertyName)$/.test(held.name) ? textOf(source, held) : null;
}
