import type { Shown, ShownEntry } from './shown-parts.ts';

/** Folders of these names. */
const folders =
  (names: RegExp): Shown =>
  ({ name, isFolder }) =>
    isFolder && names.test(name) ? 'all' : 'nothing';

/** The first rule that shows something. */
const either =
  (...rules: Shown[]): Shown =>
  (entry) =>
    rules.map((rule) => rule(entry)).find((verdict) => verdict !== 'nothing') ?? 'nothing';

/** Shared objects, and what linkers need besides them. */
const libraries: Shown = ({ name, isFolder }) =>
  !isFolder && /\.(so|o|a|spec|specs)$|\.so\./.test(name) ? 'all' : 'nothing';

const standardLibrary: Shown = ({ name }) => (/^(site|dist)-packages$/.test(name) ? 'nothing' : 'all');

/** Standard libraries of Pythons, without packages: those of a task are in its own environment. */
const standardLibraries: Shown = ({ name, isFolder }) =>
  isFolder && /^(python|pypy)\d/.test(name) ? standardLibrary : 'nothing';

/** Such as x86_64-linux-gnu or, for a separate tool chain, x86_64-alpine-linux-musl. */
const machine = /^\w+-(\w+-)?linux-(gnu|musl)\w*$/;

/** Parts of programs: compilers, git, perl; and what the C library loads. */
const programParts =
  /^(gcc|gcc-cross|llvm[-\d.]*|clang|binutils|git-core|perl[-\w]*|gawk|awk|coreutils|file|locale|gconv|glibc-hwcaps|terminfo|ssl|openssl|ossl-modules|engines[-\d.]*|nvidia[-\w]*|wsl)$/;

const libraryFolder = either(libraries, standardLibraries, folders(programParts), folders(machine));

/** Data that programs look up: time zones, terminals, characters, fonts, certificates; and modules of perl and git. */
const facts =
  /^(zoneinfo|terminfo|fonts|fontconfig|ca-certificates|crypto-policies|misc|perl\d*|git-core|g?awk|cmake-[\d.]+)$/;

const programs = /^(bin|sbin|include)$/;
const libraryNames = /^lib(32|64|x32)?$/;

const byName =
  (rules: readonly [RegExp, Shown | 'all'][]): Shown =>
  ({ name, isFolder }: ShownEntry) =>
    (isFolder ? rules.find(([names]) => names.test(name))?.[1] : undefined) ?? 'nothing';

const local = byName([
  [/^bin$/, 'all'],
  [libraryNames, libraries],
]);

/** The shown parts of the host's system, by the folder at the top of the tree. */
export const topFolders: Readonly<Record<string, Shown | 'all'>> = {
  '/usr': byName([
    [programs, 'all'],
    [libraryNames, libraryFolder],
    [/^libexec$/, folders(programParts)],
    [/^share$/, folders(facts)],
    [machine, 'all'],
    [/^local$/, local],
  ]),
  '/bin': 'all',
  '/sbin': 'all',
  '/lib': libraryFolder,
  '/lib32': libraryFolder,
  '/lib64': libraryFolder,
  '/libx32': libraryFolder,
};

/** What a Python needs of the installation from which its environment was made. */
export const pythonPrefix: Shown = byName([
  [/^(bin|include|ssl|openssl)$/, 'all'],
  [libraryNames, either(libraries, standardLibraries, folders(/^(ossl-modules|engines[-\d.]*)$/))],
  [/^share$/, folders(/^(zoneinfo|terminfo)$/)],
]);
