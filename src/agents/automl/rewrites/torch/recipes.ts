import { argumentOf, argumentsOf } from '../../arguments.ts';
import { ancestorsOf, calleeName, type SourceEdit, type SyntaxNode, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, written } from '../written.ts';
import { calledName, callsOf, moduleOf, type TorchScript } from './script.ts';
import { coursesOf, headOf, iterableOf, loopsAroundSteps } from './training.ts';

const recipes = [
  { name: 'torch: usual recipe', rate: '1e-3', weight: 0.9, effort: 1.05, isForPictures: false },
  { name: 'torch: usual recipe for pictures', rate: '3e-3', weight: 0.95, effort: 1.4, isForPictures: true },
];

/** What is usually used together, in one change: AdamW, a schedule and, for pictures, batch normalisation. */
export function usualRecipes(script: TorchScript): Rewrite[] {
  const { source } = script;
  const optimizers = callsOf(script, /^torch\.optim\.(?!lr_scheduler|swa_utils)(?:\w+\.)?[A-Z]\w*$/);
  const isScheduled = /\bscheduled\(/.test(source);
  const loops = isScheduled || optimizers.length === 0 ? [] : pacedLoops(script);
  const convolutions = innerConvolutions(script);
  return recipes.flatMap(({ name, rate, weight, effort, isForPictures }) => {
    if (isForPictures && convolutions.length === 0) return [];
    const changes: string[] = [];
    const edits = optimizers.flatMap((call): SourceEdit[] => {
      const before = textOf(source, call);
      const after = asAdam(script, call, rate) ?? before;
      if (after !== before) changes.push(`AdamW(lr=${rate}) ${inLines(source, [call])}.`);
      const text = loops.length === 0 ? after : `scheduled(${after}, warm_up=0.1)`;
      return text === before ? [] : [{ from: call.from, to: call.to, text }];
    });
    if (loops.length > 0)
      changes.push(
        `The learning rate of the optimizer ${inLines(source, optimizers)} rises during the first tenth of all steps (up to three times the constant rate, for adaptive steps) and then falls to zero along a cosine.`,
      );
    if (isForPictures)
      changes.push(`Batch normalisation after the convolutions ${inLines(source, convolutions)}.`);
    return written(source, {
      ...{ name, weight, effort, change: changes.join(' ') },
      reason: 'these are mostly used together (Loshchilov and Hutter 2017 and 2019, Ioffe and Szegedy 2015).',
      edits: [
        ...edits,
        ...loops,
        ...(isForPictures ? convolutions.flatMap((call) => normalised(script, call)) : []),
      ],
      lines: ['import torch'],
      parts: loops.length > 0 ? ['plan'] : [],
    });
  });
}

/** AdamW for the same parameters; null for optimizers that stay as they are. */
function asAdam(script: TorchScript, call: SyntaxNode, rate: string): string | null {
  const { source } = script;
  const parameters = argumentOf(source, call, 'params', 0);
  if (parameters === null || /\.(?:AdamW|LBFGS)$/.test(calledName(script, call))) return null;
  // Parameter groups with their own rates would keep them.
  if (/["']lr["']|\blr\s*=/.test(textOf(source, parameters))) return null;
  return `${moduleOf(source, call, 'torch.optim')}.AdamW(${textOf(source, parameters)}, lr=${rate}, weight_decay=1e-2)`;
}

/** The loops over batches and over epochs: each reports its progress, which decides the learning rate. */
function pacedLoops(script: TorchScript): SourceEdit[] {
  const { source } = script;
  const edits = loopsAroundSteps(script).flatMap((loops) => {
    const [batches, epochs] = coursesOf(source, loops);
    if (batches === undefined) return [];
    const isLone = epochs === undefined && /epoch|range/i.test(headOf(source, batches));
    return [
      ...planned(source, batches, isLone ? 'epochs' : 'batches'),
      ...(epochs === undefined ? [] : planned(source, epochs, 'epochs')),
    ];
  });
  return [...new Map(edits.map((edit) => [`${edit.from} ${edit.text}`, edit])).values()];
}

function planned(source: string, loop: SyntaxNode, unit: string): SourceEdit[] {
  let iterable = iterableOf(loop);
  // Other iterators often hide their length.
  while (iterable?.name === 'CallExpression' && /^(?:enumerate|tqdm|zip)$/.test(calleeName(source, iterable)))
    iterable = argumentsOf(source, iterable)[0]?.value ?? null;
  if (iterable === null) return [];
  return [
    { from: iterable.from, to: iterable.from, text: 'planned(' },
    { from: iterable.to, to: iterable.to, text: `, "${unit}")` },
  ];
}

/** Convolutions of each model but those that give its output; none if a model has any normalisation. */
function innerConvolutions(script: TorchScript): SyntaxNode[] {
  if (/\b(?:Batch|Layer|Group|Instance|RMS)Norm/.test(script.source)) return [];
  const last = new Map<SyntaxNode['from'], SyntaxNode>();
  const layers = callsOf(script, /^torch\.nn\.(?:Linear|Conv(?:Transpose)?[123]d)$/);
  for (const layer of layers) last.set(modelOf(script, layer), layer);
  return layers.filter(
    (layer) =>
      /\.Conv[123]d$/.test(calledName(script, layer)) &&
      last.get(modelOf(script, layer)) !== layer &&
      argumentOf(script.source, layer, 'out_channels', 1) !== null,
  );
}

/** Where the class, the outermost `nn.Sequential` or the function starts in which a layer is created. */
function modelOf({ source }: TorchScript, layer: SyntaxNode): number {
  const around = ancestorsOf(layer);
  const owner =
    around.find(({ name }) => name === 'ClassDefinition') ??
    around.findLast((each) => calleeName(source, each) === 'Sequential') ??
    around.find(({ name }) => name === 'FunctionDefinition');
  return owner?.from ?? 0;
}

function normalised({ source }: TorchScript, call: SyntaxNode): SourceEdit[] {
  const nn = moduleOf(source, call, 'torch.nn');
  const out = argumentOf(source, call, 'out_channels', 1) ?? call;
  const kind = calleeName(source, call).slice(-2);
  return [
    { from: call.from, to: call.from, text: `${nn}.Sequential(` },
    { from: call.to, to: call.to, text: `, ${nn}.BatchNorm${kind}(${textOf(source, out)}))` },
  ];
}
