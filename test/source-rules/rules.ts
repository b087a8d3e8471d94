import ts from 'typescript';

/** One breach of a rule about sources that handle what agents, models and other programs wrote. */
export interface Breach {
  rule: RuleName;
  file: string;
  line: number;
  text: string;
}

export const rules = {
  'names-as-bytes':
    "list a folder with encoding: 'buffer' (or through FolderHandle): the name of a file need not be text",
  'opened-safely':
    'open a file through FolderHandle, openBeneath or readRegularFile: a path may be a link, a pipe or endless',
  'bounded-buffers': 'keep no more of a stream than a bound: whoever writes it may write without end',
  'heeds-its-signal': 'a loop that waits must look at an AbortSignal, or pass one on',
} as const;
export type RuleName = keyof typeof rules;

const listing = new Set(['readdirSync', 'readdir', 'opendir', 'opendirSync']);
const opening = new Set([
  ...['readFileSync', 'readFile', 'createReadStream', 'openSync', 'open'],
  ...['copyFileSync', 'copyFile', 'cpSync', 'cp'],
]);

/** The breaches in a source, found by its syntax alone. */
export function breachesIn(file: string, source: string): Breach[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const imported = importedFrom(tree);
  const breaches: Breach[] = [];
  const report = (rule: RuleName, node: ts.Node) => {
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
    breaches.push({ rule, file, line: line + 1, text: node.getText().split('\n')[0]?.slice(0, 100) ?? '' });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const name = imported.get(calledName(node) ?? '');
      if (name !== undefined && listing.has(name) && !/encoding: 'buffer'/.test(node.getText()))
        report('names-as-bytes', node);
      if (name !== undefined && opening.has(name) && !/O_NOFOLLOW/.test(node.getText()))
        report('opened-safely', node);
      for (const handler of dataHandlers(node)) {
        const grown = growthIn(handler);
        if (grown !== null) report('bounded-buffers', grown);
      }
    }
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'onOutput' && isFunction(node.initializer)) {
      const grown = growthIn(node.initializer);
      if (grown !== null) report('bounded-buffers', grown);
    }
    if (isLoop(node) && waitsIdly(node, imported) && !/\bsignal|abort/i.test(functionAround(node).getText()))
      report('heeds-its-signal', node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return breaches;
}

/** Local names of imports from Node's file system and timers, with their original names. */
function importedFrom(tree: ts.SourceFile): Map<string, string> {
  const names = new Map<string, string>();
  for (const statement of tree.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const module = statement.moduleSpecifier.getText().slice(1, -1);
    if (!['node:fs', 'node:fs/promises', 'node:timers/promises'].includes(module)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName } of bindings.elements)
      names.set(name.text, (propertyName ?? name).getText());
  }
  return names;
}

function calledName({ expression }: ts.CallExpression): string | null {
  if (ts.isIdentifier(expression)) return expression.text;
  // `fs.readFileSync`, under any local name of the module, but not a method of another object.
  return null;
}

/** Functions that are passed to `.on('data', …)`. */
function dataHandlers({ expression, arguments: given }: ts.CallExpression): ts.Node[] {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'on') return [];
  if (given[0]?.getText() !== "'data'") return [];
  return given.slice(1).filter(isFunction);
}

/** Where a function adds its argument to something without a comparison or a slice that limits it. */
function growthIn(handler: ts.Node): ts.Node | null {
  if (!ts.isArrowFunction(handler) && !ts.isFunctionExpression(handler)) return null;
  const chunk = handler.parameters[0]?.name.getText();
  if (chunk === undefined || /[<>]=? |\.slice\(|subarray\(/.test(handler.body.getText())) return null;
  let found: ts.Node | null = null;
  const mentions = (node: ts.Node) => new RegExp(`\\b${chunk}\\b`).test(node.getText());
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && mentions(node.right)) {
      const adds =
        node.operatorToken.kind === ts.SyntaxKind.PlusEqualsToken &&
        !/\.(byteL|l)ength$/.test(node.right.getText());
      const sums =
        node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
        ts.isBinaryExpression(node.right) &&
        node.right.operatorToken.kind === ts.SyntaxKind.PlusToken;
      if (adds || sums) found ??= node;
    }
    const pushes = ts.isCallExpression(node) && node.expression.getText().endsWith('.push');
    if (pushes && node.arguments.some(mentions)) found ??= node;
    ts.forEachChild(node, visit);
  };
  visit(handler.body);
  return found;
}

function isFunction(node: ts.Node): boolean {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

function isLoop(node: ts.Node): boolean {
  return (
    ts.isForStatement(node) ||
    ts.isWhileStatement(node) ||
    ts.isDoStatement(node) ||
    ts.isForOfStatement(node)
  );
}

/** Whether a loop waits for time to pass. */
function waitsIdly(loop: ts.Node, imported: ReadonlyMap<string, string>): boolean {
  let waits = false;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && imported.get(calledName(node) ?? '') === 'setTimeout') waits = true;
    ts.forEachChild(node, visit);
  };
  visit(loop);
  return waits;
}

function functionAround(node: ts.Node): ts.Node {
  let around = node;
  while (around.parent && !ts.isFunctionLike(around)) around = around.parent;
  return around;
}
