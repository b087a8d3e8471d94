import { moduleName } from '../../layers.ts';
import { ancestorsOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { wrapped } from './normalisation.ts';
import { calleeText, inLines, type TorchScript, written } from './script.ts';
import { isOrdinary } from './shapes.ts';

interface Start extends Pick<Rewrite, 'name' | 'reason' | 'weight'> {
  how: string;
  what: string;
  /** Its scale is meant for layers whose outputs are cut off below zero. */
  isForRectifiers: boolean;
}

const starts: readonly Start[] = [
  {
    name: 'torch: He initialisation',
    how: 'He',
    what: 'Weights of linear layers and convolutions start as He et al. draw them, and biases at nought, but for the last layer',
    reason: 'signals neither grow nor fade on their way through rectified layers (He et al. 2015).',
    weight: 0.3,
    isForRectifiers: true,
  },
  {
    name: 'torch: orthogonal initialisation',
    how: 'orthogonal',
    what: 'Weights of linear layers and convolutions start orthogonal, and biases at nought, but for the last layer',
    reason: 'orthogonal weights pass all directions of their input on alike (Saxe et al. 2014).',
    weight: 0.2,
    isForRectifiers: true,
  },
  {
    name: 'torch: small last layer',
    how: 'small last layer',
    what: 'Weights of the last layer start at a tenth of their size, and its biases at nought',
    reason:
      'a network that starts with almost equal answers has no wrong ones to unlearn (Zhang et al. 2019).',
    weight: 0.2,
    isForRectifiers: false,
  },
];

const rectified =
  /\b(?:relu|ReLU|leaky_relu|LeakyReLU|PReLU|gelu|GELU|silu|SiLU|elu|ELU|selu|SELU|mish|Mish)\b/;
const drawnAlready =
  /\binit\.\w+_\(|\binitialised\(|\breset_parameters\b|\binit_weights\b|\.weight\.data\b|\bload_state_dict\(|from_pretrained|pretrained\s*=|\btorchvision\.models\b|\bfrom torchvision import .*\bmodels\b|\btimm\b/;

/** Other initial weights of linear layers and convolutions. */
export function initialiseWeights(script: TorchScript): Rewrite[] {
  const { source, models } = script;
  const layers = models.flat();
  const drawn = layers.filter(({ kind }) => /^(?:Linear|Conv[123]d)$/.test(kind));
  // Transformers and gated units have their own initialisation.
  const isOwn = layers.some(
    (layer) => /^(?:Layer|RMS)Norm$|^Multihead|^Transformer/.test(layer.kind) || !isOrdinary(script, layer),
  );
  const isDrawn = drawnAlready.test(withoutKeeper(source));
  const calls = madeModels(script);
  if (isOwn || isDrawn || drawn.length < 2 || calls.length === 0) return [];
  const isScaled = layers.some(({ kind }) => /Norm/.test(kind));
  return starts.flatMap(({ how, what, isForRectifiers, weight, ...rest }) => {
    if (isForRectifiers && !rectified.test(source)) return [];
    return written(script, {
      ...rest,
      // A normalisation undoes the scale of what comes before it.
      weight: isScaled && isForRectifiers ? weight / 2 : weight,
      change: `${what}, in the model ${inLines(source, calls)}.`,
      effort: 1,
      parts: ['initialise'],
      edits: calls.flatMap((call) => wrapped(call, 'initialised(', `, "${how}")`)),
    });
  });
}

/** The code that `best epoch` inserts loads only weights that this script trained. */
function withoutKeeper(source: string): string {
  return source.replaceAll('model.load_state_dict(self.weights)', '');
}

/**
 * Where whole models are created: calls of the script's own modules, or a chain of layers, that are not part of another
 * module.
 */
function madeModels(script: TorchScript): SyntaxNode[] {
  const { source, top, calls, imports } = script;
  const modules = nodesOf(top, 'ClassDefinition').filter((definition) => {
    const bases = definition.getChild('ArgList');
    return bases !== null && /\bModule\b/.test(textOf(source, bases));
  });
  const names = new Set(
    modules.map((definition) => {
      const name = definition.getChild('VariableName');
      return name === null ? '' : textOf(source, name);
    }),
  );
  return calls.filter((call) => {
    const ancestors = ancestorsOf(call);
    const isOwn = names.has(calleeText(source, call));
    const isChain = moduleName(source, call, imports) === 'Sequential' && holdsLayers(script, call);
    const isPart = ancestors.some(
      (each) =>
        modules.some(({ from }) => from === each.from) ||
        (each.name === 'CallExpression' && isMaker(script, each, names)),
    );
    return (isOwn || isChain) && !isPart;
  });
}

/** A call that receives the new module: another module's constructor. */
function isMaker({ source, imports }: TorchScript, call: SyntaxNode, names: ReadonlySet<string>): boolean {
  return names.has(calleeText(source, call)) || moduleName(source, call, imports) !== null;
}

function holdsLayers({ models }: TorchScript, { from, to }: SyntaxNode): boolean {
  const inside = models.flat().filter(({ call }) => call.from > from && call.to < to);
  return inside.filter(({ kind }) => /^(?:Linear|Conv[123]d)$/.test(kind)).length > 1;
}
