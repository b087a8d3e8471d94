import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodesOf, parsePython, splice, syntaxErrors } from '../python-source.ts';
import { belowImports, fullNameOf, hasOwnLines, importedNames, lineAfter } from './python-edit.ts';

test('names are resolved for every style of import', () => {
  const source = [
    'import numpy as np, os.path',
    'import sklearn.svm',
    'from sklearn import svm, linear_model as lm',
    'from sklearn.ensemble import (  # trees',
    '    RandomForestClassifier as RF,',
    '    ExtraTreesClassifier,',
    ')',
    'from .models import Net',
    'def main():',
    '    from torch import nn',
  ].join('\n');
  expect(Object.fromEntries(importedNames(source))).toEqual({
    np: 'numpy',
    os: 'os',
    sklearn: 'sklearn',
    svm: 'sklearn.svm',
    lm: 'sklearn.linear_model',
    RF: 'sklearn.ensemble.RandomForestClassifier',
    ExtraTreesClassifier: 'sklearn.ensemble.ExtraTreesClassifier',
    Net: '.models.Net',
    nn: 'torch.nn',
  });
});

test('a called name is traced back to its module', () => {
  const source =
    'from sklearn import svm\nimport sklearn.svm\na = svm.SVC()\nb = sklearn.svm.SVC()\nc = d.SVC()\n';
  const imports = importedNames(source);
  const names = nodesOf(parsePython(source), 'CallExpression').map((call) =>
    fullNameOf(source, call.firstChild, imports),
  );
  expect(names).toEqual(['sklearn.svm.SVC', 'sklearn.svm.SVC', null]);
});

test.each([
  [
    'after the last import',
    'import os\nimport sys\n\nx = 1\n',
    'import os\nimport sys\nimport math\n\nx = 1\n',
  ],
  [
    'after an import of many lines',
    'from a import (\n  b,\n)\nx = 1\n',
    'from a import (\n  b,\n)\nimport math\nx = 1\n',
  ],
  ['after the docstring', '"""Doc."""\nx = 1\n', '"""Doc."""\nimport math\nx = 1\n'],
  [
    'after future imports',
    'from __future__ import annotations\nx = 1',
    'from __future__ import annotations\nimport math\nx = 1',
  ],
  ['before the first statement', '#!/usr/bin/python\nx = 1\n', '#!/usr/bin/python\nimport math\nx = 1\n'],
  [
    'before functions with imports of their own',
    'def f():\n  import os\n',
    'import math\ndef f():\n  import os\n',
  ],
  ['into an empty file', '', 'import math\n'],
])('an import is written %s', (_, source, expected) => {
  expect(belowImports(source, 'import math\n')).toBe(expected);
});

test('a line is inserted after a statement, with its indentation', () => {
  const source = 'def f():\n    x = g(\n        1)  # one\n    return x\n';
  const statement = nodesOf(parsePython(source), 'AssignStatement')[0] ?? parsePython(source);
  expect(splice(source, [lineAfter(source, statement, 'a = 1')])).toBe(
    'def f():\n    x = g(\n        1)  # one\n    a = 1\n    return x\n',
  );
  expect(hasOwnLines(source, statement)).toBe(true);
});

test('a statement that shares its line with another has no lines of its own', () => {
  const source = 'if a: b = f()\nc = 1; d = g()\n';
  const owns = nodesOf(parsePython(source), 'AssignStatement').map((each) => hasOwnLines(source, each));
  expect(owns).toEqual([false, false, false]);
});

test('an import breaks no script', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          'import a',
          'from b import c',
          '\n',
          ';',
          '"""',
          '(',
          ' ',
          '\\',
          '#',
          'def f():',
          'x',
        ),
      }),
      (source) => {
        fc.pre(syntaxErrors(source) === 0);
        expect(syntaxErrors(belowImports(source, 'import math\n'))).toBeLessThanOrEqual(
          syntaxErrors(source) + 1,
        );
      },
    ),
  );
});
