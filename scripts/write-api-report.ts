/**
 * Writes docs/api/: what each entry of the package exports, with the types that it refers to. It is the reference of the TypeScript API,
 * and shows what a change breaks: `npm run node scripts/write-api-report.ts`. A test fails while it is out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');

/**
 * The report on an entry, the name by which it is imported, and its source. Exports shared by several are in the first
 * one.
 */
export const entries = [
  { report: 'docs/api/agent.md', name: 'mlagentbench/agent', source: 'src/agents/api.ts' },
  { report: 'docs/api/testing.md', name: 'mlagentbench/testing', source: 'src/api/testing.ts' },
  { report: 'docs/api/task.md', name: 'mlagentbench/task', source: 'src/api/task.ts' },
  { report: 'docs/api/store.md', name: 'mlagentbench/store', source: 'src/api/store.ts' },
  { report: 'docs/api/mlagentbench.md', name: 'mlagentbench', source: 'src/api/index.ts' },
] as const;
type Entry = (typeof entries)[number];

interface Declared {
  name: string;
  section: (typeof sections)[number];
  comment: string;
  /** In the form that tsc writes into a .d.ts file; types that come from a schema are expanded. */
  code: string;
  refersTo: ts.Symbol[];
}

const sections = ['Functions', 'Classes', 'Values', 'Types'] as const;

/** The text of each report, by its path in the repository. */
export function apiReports(): Map<string, string> {
  const api = new Api(programOf(entries.map(({ source }) => join(root, source))));
  return new Map(entries.map((entry) => [entry.report, page(entry.name, api.read(entry))]));
}

function programOf(files: string[]): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files, include: [] }, ts.sys, root);
  // Without a stable order, a change anywhere could change the order of the members of a union here.
  const wanted = { noEmit: false, declaration: true, emitDeclarationOnly: true, stableTypeOrdering: true };
  return ts.createProgram(files, { ...options, ...wanted });
}

interface EntryApi {
  comment: string;
  exported: Declared[];
  /** Not exported, but used by what is. */
  referred: Declared[];
  /** Described in the report on another entry. */
  elsewhere: { name: string; entry: Entry; isExported: boolean }[];
}

class Api {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  readonly #emitted = new Map<ts.SourceFile, ts.SourceFile>();
  /** The entry whose report describes an export. */
  readonly #homes = new Map<ts.Symbol, Entry>();

  constructor(program: ts.Program) {
    this.#program = program;
    this.#checker = program.getTypeChecker();
    for (const entry of entries)
      for (const symbol of this.#exportsOf(entry))
        if (!this.#homes.has(symbol)) this.#homes.set(symbol, entry);
  }

  read(entry: Entry): EntryApi {
    const symbols = this.#exportsOf(entry);
    const isElsewhere = (symbol: ts.Symbol) => (this.#homes.get(symbol) ?? entry) !== entry;
    const exported = symbols
      .filter((symbol) => !isElsewhere(symbol))
      .flatMap((symbol) => this.#declared(symbol));
    const known = new Set(symbols);
    const referred: Declared[] = [];
    for (let latest = exported; latest.length > 0; ) {
      const next = new Set(latest.flatMap(({ refersTo }) => refersTo).filter((symbol) => !known.has(symbol)));
      for (const symbol of next) known.add(symbol);
      latest = [...next].filter((symbol) => !isElsewhere(symbol)).flatMap((symbol) => this.#declared(symbol));
      referred.push(...latest);
    }
    const elsewhere = [...known].flatMap((symbol) => {
      const home = this.#homes.get(symbol);
      return home === undefined || home === entry
        ? []
        : [{ name: symbol.name, entry: home, isExported: symbols.includes(symbol) }];
    });
    return { comment: commentOf(this.#source(entry).text, 0), exported, referred, elsewhere };
  }

  #source({ source }: Entry): ts.SourceFile {
    const file = this.#program.getSourceFile(join(root, source));
    if (file === undefined) throw new Error(`${source} is not there`);
    return file;
  }

  #exportsOf(entry: Entry): ts.Symbol[] {
    const module = this.#checker.getSymbolAtLocation(this.#source(entry));
    if (module === undefined) throw new Error(`${entry.source} is no module`);
    return this.#checker.getExportsOfModule(module).map((symbol) => this.#original(symbol));
  }

  #original(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /**
   * Empty for what is declared elsewhere, such as in Node. A schema has the name of its type, and only the type is
   * described.
   */
  #declared(symbol: ts.Symbol): Declared[] {
    const declarations = symbol.declarations?.filter((one) => !isForeign(one)) ?? [];
    const declaration = declarations.find(isType) ?? declarations[0];
    if (declaration === undefined) return [];
    const source = declaration.getSourceFile();
    const emitted = this.#emit(source);
    const statement = emitted.statements.find(
      (one) => namesOf(one).includes(symbol.name) && isType(one) === isType(declaration),
    );
    if (statement === undefined) return [];
    const isSchema =
      ts.isTypeAliasDeclaration(declaration) && /\bz\.(infer|input|output)</.test(declaration.type.getText());
    const code = isSchema ? this.#written(symbol) : codeOf(statement, emitted);
    return [
      {
        ...{ name: symbol.name, section: sectionOf(statement), code },
        comment: commentOf(emitted.text, statement.pos) || commentOfSchema(declarations),
        refersTo: isSchema ? [] : this.#references(statement, source),
      },
    ];
  }

  /** The declarations that tsc emits for a source. */
  #emit(source: ts.SourceFile): ts.SourceFile {
    const known = this.#emitted.get(source);
    if (known !== undefined) return known;
    let text = '';
    const keep = (_: string, emitted: string) => {
      text = emitted;
    };
    this.#program.emit(source, keep, undefined, true);
    const emitted = ts.createSourceFile('emitted.d.ts', text, ts.ScriptTarget.Latest, true);
    this.#emitted.set(source, emitted);
    return emitted;
  }

  /** A type that is inferred from a schema. */
  #written(symbol: ts.Symbol): string {
    const { NoTruncation, InTypeAlias, MultilineObjectLiterals } = ts.NodeBuilderFlags;
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const flags = NoTruncation | InTypeAlias | MultilineObjectLiterals;
    const node = this.#checker.typeToTypeNode(type, undefined, flags);
    if (node === undefined) throw new Error(`the type ${symbol.name} can't be written`);
    const file = ts.createSourceFile('', '', ts.ScriptTarget.Latest);
    const text = ts.createPrinter().printNode(ts.EmitHint.Unspecified, node, file);
    return `type ${symbol.name} = ${text.replaceAll(/import\("[^"]*"\)\./g, '')};`;
  }

  #references(statement: ts.Statement, scope: ts.SourceFile): ts.Symbol[] {
    const found: ts.Symbol[] = [];
    const visit = (node: ts.Node): void => {
      const name = ts.isTypeReferenceNode(node)
        ? node.typeName
        : ts.isExpressionWithTypeArguments(node)
          ? node.expression
          : null;
      if (name !== null && ts.isIdentifier(name)) {
        const symbol = this.#checker.resolveName(name.text, scope, ts.SymbolFlags.Type, false);
        if (symbol !== undefined) found.push(this.#original(symbol));
      }
      ts.forEachChild(node, visit);
    };
    visit(statement);
    return found;
  }
}

function isForeign(declaration: ts.Declaration): boolean {
  return !declaration.getSourceFile().fileName.startsWith(join(root, 'src/'));
}

function isType(node: ts.Node): node is ts.TypeAliasDeclaration | ts.InterfaceDeclaration {
  return ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node);
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const isNamed =
    isType(statement) || ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

function sectionOf(statement: ts.Statement): Declared['section'] {
  if (ts.isFunctionDeclaration(statement)) return 'Functions';
  if (ts.isClassDeclaration(statement)) return 'Classes';
  return isType(statement) ? 'Types' : 'Values';
}

function codeOf(statement: ts.Statement, file: ts.SourceFile): string {
  return statement
    .getText(file)
    .replace(/^export (declare )?/, '')
    .replaceAll(/^ +(#private;|private .*)\n/gm, '');
}

/** The comment before the code after `position`, without its markers. */
function commentOf(text: string, position: number): string {
  const range = ts.getLeadingCommentRanges(text, position)?.at(-1);
  const comment = range === undefined ? '' : text.slice(range.pos, range.end);
  return comment
    .replaceAll(/^\/\*\*|\*\/$/g, '')
    .replaceAll(/^\s*\* ?/gm, '')
    .trim();
}

function commentOfSchema(declarations: readonly ts.Declaration[]): string {
  const [first] = declarations;
  const statement = first && ts.findAncestor(first, ts.isStatement);
  return statement === undefined ? '' : commentOf(statement.getSourceFile().text, statement.pos);
}

function page(name: string, { comment, exported, referred, elsewhere }: EntryApi): string {
  const parts = sections.flatMap((section) => {
    const own = exported.filter((one) => one.section === section);
    return own.length === 0 ? [] : [`## ${section}`, ...own.map(described)];
  });
  const linksOf = (isExported: boolean) => {
    const links = elsewhere
      .filter((one) => one.isExported === isExported)
      .map(({ name: other, entry }) => `[${other}](${basename(entry.report)}#${other.toLowerCase()})`);
    return links.length === 0 ? [] : [`${links.join(', ')}.`];
  };
  const also = withHeading('## Also exported', linksOf(true));
  const further = withHeading('## Types that these refer to', [
    ...linksOf(false),
    ...referred.map(described),
  ]);
  return `${[`# ${name}`, prose(comment), generated, ...parts, ...also, ...further].join('\n\n')}\n`;
}

function withHeading(heading: string, parts: string[]): string[] {
  return parts.length === 0 ? [] : [heading, ...parts];
}

const generated =
  '<!-- Written by scripts/write-api-report.ts from the sources. A change of this file is a change of the API. -->';

function described({ name, comment, code }: Declared): string {
  const text = comment === '' ? '' : `${prose(comment)}\n\n`;
  return `### ${name}\n\n${text}\`\`\`ts\n${code}\n\`\`\``;
}

/** A comment as Markdown: pages of the documentation become links, TSDoc tags become words. */
function prose(comment: string): string {
  return comment
    .replaceAll('<', '&lt;')
    .replaceAll(/\n?@throws (\w+)/g, '\n\nThrows `$1`')
    .replaceAll(/\n?@param (\w+)/g, '\n\n`$1`:')
    .replaceAll(/\n?@returns/g, '\n\nReturns')
    .replaceAll(/docs\/([\w/-]+\.md)/g, '[$1](../$1)')
    .trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of apiReports()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
