import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { withFreshSeeds } from '../../search/fresh-seeds.ts';
import { findKnobs } from '../knobs.ts';
import { syntaxErrors } from '../python-source.ts';
import { describeModel, modelScript } from './contract.ts';
import { pythonPart } from './python-file.ts';
import { contractOf, homes, pictures, reviews, withPictures } from './test-support.ts';

describe('the script that fulfils a contract', () => {
  it('is Python with lines of at most 100 characters, whatever the columns are called', () => {
    const odd = [
      'a"b',
      "c'd",
      'e\\f',
      'π',
      ...Array.from({ length: 30 }, (_, place) => `a long name ${place}`),
    ];
    const { settings, ...contract } = contractOf(taskOf('MAE', [{}]), homes);
    const script = modelScript({ ...contract, settings: { ...settings, TARGETS: odd } }, 60);
    expect(syntaxErrors(script)).toBe(0);
    expect(script.split('\n').filter((line) => line.length > 100)).toEqual([]);
    const check = 'import ast, sys; sys.stdout.write(str(len(ast.parse(sys.stdin.read()).body)))';
    expect(
      Number(spawnSync('python3', ['-c', check], { input: script, encoding: 'utf8' }).stdout),
    ).toBeGreaterThan(40);
  });

  it('starts with the model that the columns require', () => {
    expect(describeModel(contractOf(taskOf('MAE', [{}]), homes))).toMatch(/^boosting, /);
    const ofTexts = contractOf(taskOf('accuracy', [{ name: '0' }, { name: '1' }]), reviews);
    expect(describeModel(ofTexts)).toMatch(/^linear, /);
  });

  it('blends no model whose run time grows too fast with the number of rows', () => {
    const full = (rows: number) => {
      const train = `id,size,y\n${'1,2,3\n1,3,4\n'.repeat(rows / 2)}`;
      const contract = contractOf(taskOf('MAE', [{}]), { 'train.csv': train, 'test.csv': 'id,size\n2,3\n' });
      return describeModel(contract).split(', ');
    };
    expect(full(900)).toEqual(expect.arrayContaining(['kernel', 'deep_boosting']));
    expect(full(10_000)).not.toContain('kernel');
    expect(full(110_000)).toEqual(['boosting', 'large_boosting', 'linear', 'powers', 'polynomial']);
  });

  it.each([
    [
      'model',
      'settings cells data formats scores models blend moments dates amounts molecules letters pieces texts sequences shapes lists table joins files arrays',
    ],
    ['measurement of withheld rows', 'settings cells data scores formats table held_out'],
    ['look at the data', 'cells moments formats look answers pairs rows sources contract'],
  ])('has each name once, whatever parts a %s is made of', (_, parts) => {
    const names = parts
      .split(' ')
      .flatMap((part) => [...pythonPart(part).matchAll(/^(?:def |class )?(\w+)(?=[(:]| = |: [^=\n]+ = )/gm)])
      .map(([, name]) => name);
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
  });

  it('contains only the parts that its columns need', () => {
    const plain = modelScript(contractOf(taskOf('MAE', [{}]), homes), 60);
    expect(plain).not.toContain('TfidfVectorizer');
    const ofTexts = contractOf(taskOf('accuracy', [{ name: '0' }, { name: '1' }]), reviews);
    const script = modelScript(ofTexts, 60);
    expect(script).toContain('TfidfVectorizer');
    expect(script).not.toContain('from automl');
  });

  it('has one seed that can be replaced, and no numbers to tune for its time or its epochs', () => {
    const task = taskOf('accuracy', [{ type: 'text' }]);
    for (const contract of [
      contractOf(taskOf('MAE', [{}]), homes),
      contractOf(task, pictures, withPictures),
    ]) {
      const script = modelScript(contract, 60);
      const lines = script.split('\n');
      const raised = withFreshSeeds(script, 1).split('\n');
      expect(raised.filter((line, place) => line !== lines[place])).toHaveLength(1);
      const names = findKnobs(script).map(({ name }) => name);
      expect(names.filter((name) => /SECONDS|PASSES|EPOCHS/i.test(name))).toEqual([]);
    }
  });

  it('makes no passes over the rows if the task limits them', () => {
    const task = { ...taskOf('accuracy', [{ type: 'text' }]), problem: 'Train for at most 7 epochs.' };
    expect(contractOf(task, pictures, withPictures).members).not.toContain('network');
  });
});
