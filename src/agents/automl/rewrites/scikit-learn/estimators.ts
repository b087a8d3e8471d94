import { childrenOf, nodesOf, parsePython, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf, importedNames } from '../python-edit.ts';

export type Kind = 'classifier' | 'regressor';
export type Family =
  | 'linear'
  | 'kernel'
  | 'neighbours'
  | 'network'
  | 'tree'
  | 'forest'
  | 'boosting'
  | 'process'
  | 'bayes'
  | 'blend';

/** The place where a script creates a scikit-learn estimator. */
export interface Estimator {
  call: SyntaxNode;
  /** Its class: `Ridge`. */
  name: string;
  kind: Kind;
  family: Family;
  /** The variable that it is assigned to, together with anything around it; null if there is none. */
  variable: string | null;
  /** It is passed to an estimator that fits one model for each target. */
  isForOneOutput: boolean;
}

const families: readonly (readonly [Family, RegExp])[] = [
  ['blend', /^(?:Voting|Stacking)/],
  ['boosting', /^(?:Hist)?GradientBoosting|^AdaBoost/],
  ['forest', /^(?:RandomForest|ExtraTrees(?:Class|Regr)|Bagging)/],
  ['tree', /^(?:Decision|Extra)Tree/],
  ['kernel', /^(?:Nu)?SV[CR]$|^KernelRidge$/],
  ['neighbours', /^(?:KNeighbors|RadiusNeighbors|NearestCentroid)/],
  ['network', /^MLP/],
  ['process', /^GaussianProcess/],
  ['bayes', /NB$|^(?:Linear|Quadratic)DiscriminantAnalysis$/],
  [
    'linear',
    /^(?:Linear(?:Regression|SV[CR])|(?:Logistic|Ridge|Lasso|ElasticNet|BayesianRidge|ARDRegression|Lars|LassoLars|Perceptron)(?:Regression)?(?:CV)?|RidgeClassifier(?:CV)?|(?:SGD|PassiveAggressive)(?:Classifier|Regressor)|(?:Huber|TheilSen|Quantile|Poisson|Gamma|Tweedie)Regressor)$/,
  ],
];
const baselines = /^Dummy(?:Classifier|Regressor)$/;
const classifiers =
  /Classifier(?:CV)?$|SVC$|NB$|^LogisticRegression(?:CV)?$|DiscriminantAnalysis$|^(?:Perceptron|NearestCentroid)$/;
/** Every estimator that predicts classes or numbers, except those inside others, in the order of the source. */
export function findEstimators(source: string): Estimator[] {
  const imports = importedNames(source);
  const found: Estimator[] = [];
  for (const call of nodesOf(parsePython(source), 'CallExpression')) {
    const full = fullNameOf(source, call.firstChild, imports) ?? '';
    const name = /^sklearn\.(?:\w+\.)+([A-Z]\w*)$/.exec(full)?.[1] ?? '';
    const family = baselines.test(name) ? 'tree' : families.find(([, pattern]) => pattern.test(name))?.[0];
    if (family === undefined || found.some((other) => contains(other.call, call))) continue;
    const kind = classifiers.test(name) ? 'classifier' : 'regressor';
    const around = source.slice(Math.max(0, call.from - 60), call.from);
    const isForOneOutput =
      /(?:MultiOutput|RegressorChain|ClassifierChain|OneVsRest|OneVsOne)\w*\([^()]*$/.test(around);
    found.push({ call, name, kind, family, variable: variableOf(source, call), isForOneOutput });
  }
  return found;
}

function contains(outer: SyntaxNode, inner: SyntaxNode): boolean {
  return inner.from > outer.from && inner.to <= outer.to;
}

/** `model` of `model = make_pipeline(StandardScaler(), Ridge()).fit(x, y)`. */
function variableOf(source: string, call: SyntaxNode): string | null {
  for (let node = call; node.parent !== null; node = node.parent) {
    if (node.parent.name === 'AssignStatement') {
      const [target] = childrenOf(node.parent);
      return target !== undefined && target.from !== node.from ? textOf(source, target) : null;
    }
    if (/^(?:Body|Script|DictionaryExpression)$/.test(node.parent.name)) return null;
  }
  return null;
}

/** The value of a keyword argument; null if the call has none. */
export function keywordOf(call: SyntaxNode, keyword: string, source: string): SyntaxNode | null {
  for (const node of childrenOf(call.getChild('ArgList') ?? call)) {
    if (node.name === 'AssignOp' && node.prevSibling !== null && textOf(source, node.prevSibling) === keyword)
      return node.nextSibling;
  }
  return null;
}

/** The call with these keyword arguments, set or added; null if it takes arguments from a dictionary. */
export function withKeywords(
  source: string,
  call: SyntaxNode,
  keywords: Readonly<Record<string, string>>,
): string | null {
  const list = call.getChild('ArgList');
  if (list === null || list.getChild('**') !== null || list.getChild('*') !== null) return null;
  let text = textOf(source, call);
  const values = Object.entries(keywords).map(([keyword, value]) => ({
    keyword,
    value,
    node: keywordOf(call, keyword, source),
  }));
  for (const { node, value } of values
    .filter((each) => each.node !== null)
    .sort((left, right) => (right.node?.from ?? 0) - (left.node?.from ?? 0))) {
    if (node !== null) text = text.slice(0, node.from - call.from) + value + text.slice(node.to - call.from);
  }
  const added = values.filter(({ node }) => node === null).map(({ keyword, value }) => `${keyword}=${value}`);
  if (added.length === 0) return text;
  const inside = text.slice(0, -1).trimEnd();
  const comma = /[(,]$/.test(inside) ? '' : ',';
  const space = inside.endsWith('(') || (comma === '' && text.includes('\n')) ? '' : ' ';
  return `${inside}${comma}${space}${added.join(', ')})`;
}
