import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { modelScript } from './contract.ts';
import { heldOutScript } from './held-out.ts';
import { contractOf, homes, problemOf, reviews, settingsOf } from './test-support.ts';

describe('what is to be predicted, and how it is scored', () => {
  it('takes nothing of another name for what is to be ranked by', () => {
    const files = {
      'heard.csv': 'listener,show,day\na,x,1\na,y,2\nb,x,4\n',
      'test.csv': 'id,listener,show\n1,a,z\n2,b,y\n',
    };
    expect(problemOf(taskOf('NDCG@10', [{ name: 'score' }]), files)).toContain('day need not be what');
    expect(settingsOf(taskOf('NDCG@10', [{ name: 'day' }]), files)).toMatchObject({ TARGETS: ['day'] });
  });

  it('knows the weight of recall in F2, and the quantile of a pinball loss', () => {
    const kinds = { ...homes, 'train.csv': 'id,size,town,y\n1,10,A,yes\n2,20,B,no\n3,30,,yes\n' };
    for (const name of ['F2', 'F-2 score', 'f2 (of yes)'])
      expect(contractOf(taskOf(name, [{ type: 'text' }]), kinds)).toMatchObject({
        ...{ is_measured: true, settings: { METRIC: 'f2' } },
      });
    const told = (problem: string) =>
      contractOf({ ...taskOf('mean pinball loss', [{}]), problem: `Predict. ${problem}` }, homes);
    expect(told('It is evaluated for the quantile 0.8.')).toMatchObject({
      ...{ is_measured: true, settings: { METRIC: 'pinball', QUANTILES: [0.8] } },
    });
    expect(told('We want the 90 % quantile.').settings.QUANTILES).toEqual([0.9]);
    expect(told('Only the 95th percentile counts.').settings.QUANTILES).toEqual([0.95]);
    for (const unclear of ['', 'The quantile 0.1 and the quantile 0.9 count.'])
      expect(told(unclear)).toMatchObject({ is_measured: false, settings: { METRIC: 'mae' } });
    const several = [{ name: 'y_p10' }, { name: 'y_p50' }, { name: 'y_p90' }];
    expect(contractOf(taskOf('mean pinball loss', several), homes)).toMatchObject({
      ...{ is_measured: true, members: ['boosting', 'deep_boosting'] },
      settings: {
        TARGETS: ['y', 'y', 'y'],
        COLUMNS: ['y_p10', 'y_p50', 'y_p90'],
        QUANTILES: [0.1, 0.5, 0.9],
      },
    });
  });

  it('takes the quantiles of columns with names of their own from the brief, if it names one for each', () => {
    const bounds = taskOf('pinball loss', [{ name: 'low' }, { name: 'mid' }, { name: 'high' }]);
    const told = (problem: string) => contractOf({ ...bounds, problem }, homes);
    for (const problem of [
      'Predict the 10 %, 50 % and 90 % quantiles of y.',
      'Predict the 10th, 50th and 90th percentile of y.',
      'Predict the quantiles 0.1, 0.5, and 0.9 of y.',
      'low: the 10 % quantile; mid: the 50 % quantile; high: the 90 % quantile (of the 90 % quantile, most).',
    ])
      expect(told(problem)).toMatchObject({
        ...{ is_measured: true },
        settings: { TARGETS: ['y', 'y', 'y'], COLUMNS: ['low', 'mid', 'high'], QUANTILES: [0.1, 0.5, 0.9] },
      });
    const two = { ...bounds, problem: 'Predict the 10 % and 90 % quantiles.' };
    expect(problemOf(two, homes)).toContain('nothing in the data folder has the asked columns');
  });

  it('learns several columns of 0 and 1 as labels, and decides where the metric asks for it', () => {
    const files = {
      'train.csv': 'id,size,hot,wet\n1,10,1,0\n2,20,0,1\n3,5,1,1\n',
      'test.csv': 'id,size\n4,1\n5,2\n',
    };
    const labels = [{ name: 'hot' }, { name: 'wet' }];
    const of = (metric: string) => contractOf(taskOf(metric, labels), files);
    expect(of('macro F1')).toMatchObject({
      is_measured: true,
      settings: { ARE_LABELS: true, CLASSIFIES: false, METRIC: 'macro f1', ROUNDS_TO_WHOLE: ['hot', 'wet'] },
    });
    expect(of('micro-averaged F1').settings.METRIC).toBe('micro f1');
    const classes = { ...homes, 'train.csv': 'id,size,town,y\n1,10,A,yes\n2,20,B,no\n3,30,,yes\n' };
    for (const name of ['micro F1', 'micro F2'])
      expect(contractOf(taskOf(name, [{ type: 'text' }]), classes).settings.METRIC).toBe('accuracy');
    expect(of('AUC').settings).toMatchObject({ ARE_LABELS: true, ROUNDS_TO_WHOLE: [] });
    expect(of('mAP')).toMatchObject({
      is_measured: true,
      settings: { METRIC: 'average precision', ROUNDS_TO_WHOLE: [] },
    });
    expect(of('RMSE').settings).not.toHaveProperty('ARE_LABELS');
    expect(of('accuracy')).toMatchObject({
      is_measured: false,
      settings: { ROUNDS_TO_WHOLE: ['hot', 'wet'] },
    });
  });

  it('tells what scores withheld rows all that scores the others', () => {
    const settings = { QUANTILES: [0.8], ARE_LABELS: true, FILE_COLUMN: 'shop', JOINED: [['data/a.csv']] };
    const contract = { ...contractOf(taskOf('MAE', [{}]), homes), settings };
    const script = heldOutScript(contract, 'train.py', { part: 0, other: '', seconds: 5 });
    expect(script).toContain('\nQUANTILES = [0.8]\n');
    expect(script).toContain('\nARE_LABELS = True\n');
    expect(script).toContain('\nFILE_COLUMN = "shop"\n');
  });

  it.each([
    ['0', '1'],
    ['p_0', 'p_1'],
    ['class 1 (share)', 'class 0 (share)'],
  ])('may require the probability of each class, in columns that name the classes: %s, %s', (...columns) => {
    const task = taskOf(
      'accuracy',
      columns.map((name) => ({ name })),
    );
    expect(contractOf(task, reviews)).toMatchObject({
      plan: expect.stringContaining('(columns: 1 of texts)'),
      settings: {
        TARGETS: ['label'],
        CLASS_COLUMNS: columns.map((name) => [name, name.includes('0') ? '0' : '1']),
        CLASSIFIES: true,
      },
    });
  });

  it('requires classes, one probability, or several numbers, depending on metric and columns', () => {
    const classes = { 'train.csv': 'id,a,y\n1,2,True\n2,3,False\n', 'test.csv': 'id,a\n3,4\n' };
    const ofClasses = settingsOf(taskOf('accuracy', [{ type: 'text', values: ['True', 'False'] }]), classes);
    expect(ofClasses).toMatchObject({ CLASSIFIES: true, WRITES_PROBABILITY: false });
    expect(settingsOf(taskOf('ROC AUC', [{ min: 0, max: 1 }]), classes)).toMatchObject({
      WRITES_PROBABILITY: true,
    });
    const many = { 'train.csv': 'id,a,v,u\n1,2,3,4\n', 'test.csv': 'id,a\n3,4\n' };
    const numbers = settingsOf(taskOf('MCRMSE', [{ name: 'u' }, { name: 'v' }]), many);
    expect(numbers).toMatchObject({ TARGETS: ['u', 'v'], METRIC: 'rmse', CLASSIFIES: false });
  });

  it('follows the columns if it does not know the metric, and then measures another one', () => {
    const contract = contractOf(taskOf('tail dependence', [{}]), homes);
    expect(contract).toMatchObject({ settings: { METRIC: 'mae' }, is_measured: false });
    expect(modelScript(contract, 60)).not.toContain('dependence');
  });
});
