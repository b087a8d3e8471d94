/** Functions of numbers that numpy has for arrays, by their names there. */
export const elementwiseNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'sqrt exp log sin cos tan tanh sinh cosh log2 log10 log1p expm1 hypot floor ceil'
      .split(' ')
      .map((name) => [`math.${name}`, name]),
  ),
  ...{ 'math.pow': 'power', 'math.fabs': 'abs', 'math.atan': 'arctan', 'math.atan2': 'arctan2' },
  ...{ 'math.asin': 'arcsin', 'math.acos': 'arccos', abs: 'abs' },
  ...Object.fromEntries(
    'sqrt exp log sin cos tan tanh sinh cosh arctan arctan2 arcsin arccos log2 log10 log1p expm1 hypot power abs absolute maximum minimum square sign where clip floor ceil add subtract multiply divide logical_and logical_or logical_not float64 float32'
      .split(' ')
      .map((name) => [`numpy.${name}`, name]),
  ),
};
/** Methods and functions that make one number of an array, by their names in numpy. */
export const reductions: Readonly<Record<string, string>> = {
  sum: 'sum',
  max: 'max',
  min: 'min',
  mean: 'mean',
  amax: 'max',
  amin: 'min',
  prod: 'prod',
  std: 'std',
  var: 'var',
  median: 'median',
  any: 'any',
  all: 'all',
  argmin: 'argmin',
  argmax: 'argmax',
};
