import { expect, it } from 'vitest';
import { briefOf } from '../../../../test/fakes/fake-environment.ts';
import { graphScripts } from '../../../../test/fixtures/graph-scripts.ts';
import type { ArraySummary } from '../model-writing/arrays.ts';
import { rewriteGraph } from './graph.ts';

const array = (name: string, shape: number[], ends?: [number, number]): ArraySummary => {
  const [least, most] = ends ?? [null, null];
  return { path: `data/${name}.npy`, key: '', shape, kind: ends ? 'i' : 'f', least, most };
};
const features = array('features', [400, 6]);
const edges = array('edges', [1500, 2], [0, 399]);
const labels = array('labels', [400], [-1, 3]);
const train = array('train', [200], [0, 399]);
const valid = array('valid', [100], [0, 398]);

function offered(source: string, ...arrays: ArraySummary[]): string[] {
  const surroundings = { task: briefOf({}), arrays, packages: ['numpy', 'scipy'] };
  return rewriteGraph(source, surroundings).map(({ source: rewritten }) => rewritten);
}

it('means over neighbours follow the line that loads the features', () => {
  const [first, second] = offered(graphScripts.graphNumpy, features, edges, labels, train, valid);
  expect(first).toContain(
    '    features = numpy.load(DATA / "features.npy")\n' +
      '    features = with_neighbours(features, numpy.load("data/edges.npy"))\n',
  );
  expect(second).toContain('labels=numpy.load("data/labels.npy"), known=numpy.load("data/train.npy")');
  expect(offered(first ?? '', features, edges)).toEqual([]);
});

it('nothing is offered without edges between the rows, or if the features are loaded in another way', () => {
  const source = graphScripts.graphTorch;
  expect(offered(source, features, edges)).toHaveLength(1);
  expect(offered(source, features)).toEqual([]);
  expect(offered(source, features, array('edges', [1500, 2], [0, 400]))).toEqual([]);
  expect(offered(source, features, array('edges', [1500, 2], [-1, 399]))).toEqual([]);
  expect(offered(source, features, array('edges', [1500, 2]))).toEqual([]);
  expect(offered(source.replace('"data/features.npy"', 'PATH'), features, edges)).toEqual([]);
  // Without an array of the training rows, labels of validation data could leak.
  expect(offered(source, features, edges, labels, valid)).toHaveLength(1);
});
