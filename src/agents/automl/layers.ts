import { argumentOf } from './arguments.ts';
import { ancestorsOf, nodesOf, parsePython, type SyntaxNode, textOf } from './python-source.ts';
import { fullNameOf, importedNames } from './rewrites/python-edit.ts';

/** A PyTorch layer that a script creates. */
export interface Layer {
  call: SyntaxNode;
  /** PyTorch's name: `Conv2d`. */
  kind: string;
  /** Whether its output has the size of its input, as with normalisation or attention. */
  keeps: boolean;
  /** The numbers of inputs and outputs, or of channels. The same node if the layer keeps the shape. */
  into: SyntaxNode | null;
  out: SyntaxNode | null;
  /** The name of the attribute or variable that holds it, or that holds the module which it is part of. */
  holder: string | null;
}

/** Keyword and position of the argument for the size of the input or of the output. */
type Slot = readonly [string, number];
/** The two of each layer; one that gives no other size to its output has a single slot. */
const slots: readonly (readonly [RegExp, Slot | null, Slot?])[] = [
  [/^(?:Lazy)?Linear$/, ['in_features', 0], ['out_features', 1]],
  [/^Conv(?:Transpose)?[123]d$/, ['in_channels', 0], ['out_channels', 1]],
  [/^(?:LSTM|GRU|RNN)(?:Cell)?$/, ['input_size', 0], ['hidden_size', 1]],
  [/^Embedding(?:Bag)?$/, null, ['embedding_dim', 1]],
  [/^(?:BatchNorm|InstanceNorm)[123]d$/, ['num_features', 0]],
  [/^(?:LayerNorm|RMSNorm)$/, ['normalized_shape', 0]],
  [/^GroupNorm$/, ['num_channels', 1]],
  [/^MultiheadAttention$/, ['embed_dim', 0]],
  [/^Transformer(?:Encoder|Decoder)Layer$/, ['d_model', 0]],
];

/**
 * The layers of each model of a script, in the order of the source: those of one class, of one `nn.Sequential`, or
 * of one function.
 */
export function modelsOf(source: string): Layer[][] {
  const imports = importedNames(source);
  const models = new Map<string, Layer[]>();
  for (const call of nodesOf(parsePython(source), 'CallExpression')) {
    const layer = layerOf(source, call, imports);
    if (layer === null) continue;
    const { name, from } = modelOf(source, call, imports);
    const key = `${name} ${from}`;
    models.set(key, [...(models.get(key) ?? []), layer]);
  }
  return [...models.values()];
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
  const found = slots.find(([pattern]) => kind !== null && pattern.test(kind));
  if (kind === null || found === undefined) return null;
  const [, input, output = input] = found;
  const [into, out] = [input, output].map((slot) => slot && argumentOf(source, call, ...slot));
  const keeps = input === output;
  return { call, kind, keeps, into: into ?? null, out: out ?? null, holder: holderOf(source, call) };
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
