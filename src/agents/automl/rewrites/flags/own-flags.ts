import { argumentsOf } from '../../arguments.ts';
import { isEvaluationName, plainName } from '../../priors.ts';
import {
  ancestorsOf,
  calleeName,
  nodesOf,
  parsePython,
  type SyntaxNode,
  textOf,
} from '../../python-source.ts';

/** A boolean of the script's own settings. */
export interface OwnFlag {
  name: string;
  value: SyntaxNode;
}

/**
 * Names that are none of a tuner's business: evaluation, print-outs, debugging, luck, devices and their arithmetic,
 * what is kept on disk, which rows are used, and what is to be done at all.
 */
const excluded = new RegExp(
  `(?:^|_)(?:${[
    'tests?|eval|evaluate|evaluation|valid|val|validate|validation|cv|folds?|splits?|holdout|dev|stratif\\w*|shuffle|baseline',
    'print|prints|verbose|verbosity|log|logs|logging|debug|debugging|trace|profile|profiling|progress|tqdm|wandb|tensorboard|report|show|plot|plots|display|silent|quiet|warn\\w*|check\\w*|assert\\w*|strict',
    'seed|seeds|seeded|random_state|deterministic|reproducible|benchmark|device|devices|cuda|gpu|gpus|cpu|tpu|mps|amp|fp16|bf16|half|tf32|mixed|autocast|compile|compiled|jit|script|fused|foreach|pin|pinned|pin_memory|memory|workers?|persistent|parallel|distributed|ddp|async',
    'save|saves|saved|saving|write|writes|store|load|loads|reload|cache|cached|caching|checkpoint|checkpoints|checkpointing|ckpt|resume|restore|download|force|overwrite|export|submit|submission|predict|predictions?|output|outputs?|file|files|path|dry|smoke|quick|fast|slow|full|demo|sample|subset|limit|tiny',
    'train|training|trainable|pretrained|infer|inference|run|do|skip|only|is|has|leak|labels?|targets?|header|index|batch_first|inplace|in_place|return\\w*|copy|frozen|online|offline|local|remote|available',
  ].join('|')})(?:_|$)`,
);

/** Flags of the script's configurations and constants, those that decide on how it is measured or run left out. */
export function ownFlags(source: string): OwnFlag[] {
  const top = parsePython(source);
  const classes = settingsClasses(source, top);
  const found = [
    ...constants(source, top),
    ...nodesOf(top, 'CallExpression').flatMap((call) =>
      classes.some(({ name }) => name === calleeName(source, call)) ? givenFlags(source, call) : [],
    ),
    ...classes.flatMap(({ definition }) => fieldFlags(source, definition)),
  ];
  return found.filter(({ name }) => !excluded.test(plainName(name)) && !isEvaluationName(name));
}

/** `USE_DROPOUT = False`, unless it is given another value somewhere. */
function constants(source: string, top: SyntaxNode): OwnFlag[] {
  const flags = assignedFlags(source, top).filter(({ name }) => /^[A-Z][A-Z0-9_]*$/.test(name));
  return flags.filter(({ name }) => {
    const given = nodesOf(top, 'AssignStatement').filter(
      (each) => each.firstChild !== null && textOf(source, each.firstChild) === name,
    );
    return given.length === 1;
  });
}

interface SettingsClass {
  name: string;
  definition: SyntaxNode;
}

/** Data classes, named tuples, and classes that are named like settings: none that does anything by itself. */
function settingsClasses(source: string, top: SyntaxNode): SettingsClass[] {
  return nodesOf(top, 'ClassDefinition').flatMap((definition) => {
    const variable = definition.getChild('VariableName');
    const name = variable === null ? '' : textOf(source, variable);
    const bases = definition.getChild('ArgList');
    const decorators = definition.parent?.getChildren('Decorator') ?? [];
    const isData = decorators.some((each) => /^@(?:\w+\.)?(?:dataclass|define)\b/.test(textOf(source, each)));
    const isTuple = bases !== null && /\b(?:NamedTuple|BaseModel)\b/.test(textOf(source, bases));
    const isNamed =
      bases === null && /(?:Config|Configuration|Settings|Options|Params|Parameters|CFG)$/.test(name);
    return isData || isTuple || isNamed ? [{ name, definition }] : [];
  });
}

/** `Config(gated=True)`. */
function givenFlags(source: string, call: SyntaxNode): OwnFlag[] {
  return argumentsOf(source, call).flatMap(({ keyword, value }) =>
    keyword !== null && value.name === 'Boolean' ? [{ name: keyword, value }] : [],
  );
}

/** `gated: bool = True` in a class, unless it is given another value where the class is called. */
function fieldFlags(source: string, definition: SyntaxNode): OwnFlag[] {
  const body = definition.getChild('Body');
  if (body === null) return [];
  const calls = nodesOf(ancestorsOf(definition).at(-1) ?? definition, 'CallExpression');
  return assignedFlags(source, body).filter(
    ({ name }) => !calls.some((call) => argumentsOf(source, call).some(({ keyword }) => keyword === name)),
  );
}

function assignedFlags(source: string, block: SyntaxNode): OwnFlag[] {
  return block.getChildren('AssignStatement').flatMap((statement) => {
    const [target, value] = [statement.firstChild, statement.lastChild];
    const isPlain = target?.name === 'VariableName' && value?.name === 'Boolean';
    return isPlain && statement.getChildren('VariableName').length === 1
      ? [{ name: textOf(source, target), value }]
      : [];
  });
}
