import { splice, textOf } from '../../python-source.ts';
import { lineOf } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { type Estimator, keywordOf, withKeywords } from './estimators.ts';
import type { Usage } from './usage.ts';

interface Setting {
  keywords: Record<string, string>;
  reason: string;
  weight: number;
  effort: number;
}

/** The best known keyword arguments of the current estimator. */
export function rewriteSettings(source: string, group: readonly Estimator[], usage: Usage): Rewrite[] {
  const [first] = group;
  if (first === undefined) return [];
  return settingsFor(first, usage, source).flatMap(({ keywords, reason, weight, effort }): Rewrite[] => {
    const edits = group.flatMap(({ call }) => {
      const text = withKeywords(source, call, keywords);
      return text === null ? [] : [{ from: call.from, to: call.to, text }];
    });
    if (edits.length < group.length) return [];
    const shown = Object.entries(keywords).map(([keyword, value]) => `${keyword}=${value}`);
    const change = `${first.name} (line ${lineOf(source, first.call)}) gets ${shown.join(', ')}.`;
    return [
      {
        name: `scikit-learn: ${first.name}(${shown.join(', ')})`,
        change,
        reason,
        weight,
        effort,
        source: splice(source, edits),
      },
    ];
  });
}

const weighable =
  /^(?:LogisticRegression|LinearSVC|SVC|RidgeClassifier|SGDClassifier|Perceptron|DecisionTreeClassifier|RandomForestClassifier|ExtraTreesClassifier|HistGradientBoostingClassifier)$/;

function settingsFor({ name, call }: Estimator, { isBalanced }: Usage, source: string): Setting[] {
  const given = (keyword: string) => {
    const node = keywordOf(call, keyword, source);
    return node === null ? null : textOf(source, node);
  };
  const settings: Setting[] = [];
  const isOwnLoop = /\.\s*partial_fit\s*\(/.test(source);
  if (isBalanced && weighable.test(name) && given('class_weight') === null) {
    settings.push({
      keywords: { class_weight: '"balanced"' },
      reason: 'the metric counts rare classes as much as frequent ones.',
      weight: 0.85,
      effort: 1,
    });
  }
  if (/^MLP/.test(name)) {
    const slow = /^["']sgd["']$/.test(given('solver') ?? '');
    if (slow) {
      const reason =
        'Adam finds its own step for each weight, and gets further in few epochs (Kingma and Ba 2015).';
      settings.push({ keywords: { solver: '"adam"' }, reason, weight: 0.9, effort: 1 });
      settings.push({
        keywords: { solver: '"adam"', learning_rate_init: '0.001' },
        reason,
        weight: 0.75,
        effort: 1,
      });
    }
    if (!isOwnLoop && given('early_stopping') !== 'True') {
      const keywords = { early_stopping: 'True', max_iter: '500', n_iter_no_change: '20' };
      settings.push({
        keywords,
        reason: 'training ends where unseen rows no longer gain.',
        weight: 0.5,
        effort: 2,
      });
    }
  }
  if (/^GradientBoosting/.test(name) && given('subsample') === null) {
    settings.push({
      keywords: { subsample: '0.6' },
      reason: 'trees on part of the rows err differently (Friedman 2002).',
      weight: 0.5,
      effort: 1,
    });
  }
  if (/^KNeighbors/.test(name) && given('weights') === null) {
    settings.push({
      keywords: { weights: '"distance"' },
      reason: 'near rows tell more than far ones.',
      weight: 0.6,
      effort: 1,
    });
  }
  if (/^SGD/.test(name) && given('average') === null) {
    settings.push({
      keywords: { average: 'True' },
      reason: 'the mean of all steps is steadier than the last one (Polyak and Juditsky 1992).',
      weight: 0.5,
      effort: 1,
    });
  }
  return settings;
}
