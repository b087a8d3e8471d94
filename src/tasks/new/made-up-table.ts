/** Rents that depend on size, storey, quarter and year, with noise; always the same. */
export function madeUpTable(): string {
  let state = 7;
  const draw = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const quarters = { harbour: 1.3, centre: 1.5, meadows: 0.9 };
  const rows = Array.from({ length: 600 }, () => {
    const [size, storey, year] = [
      20 + Math.floor(draw() * 100),
      Math.floor(draw() * 6),
      1900 + Math.floor(draw() * 120),
    ];
    const [quarter, factor] = Object.entries(quarters)[Math.floor(draw() * 3)] ?? ['centre', 1.5];
    const rent = (200 + 8 * size + 12 * storey + Math.abs(year - 1960)) * factor * (0.9 + 0.2 * draw());
    return [size, storey, year, quarter, rent.toFixed(0)].join();
  });
  return ['size,storey,year,quarter,rent', ...rows, ''].join('\n');
}

/** The figures that `mlab tasks new` measured for the task made from it; a heavy test measures them again. */
export const madeUpFigures = {
  baseline: { mean: 93.9349, spread: 1.12424, seeds: 3, seconds: 7.1, machine: '2 cores, AMD EPYC' },
  reference: { mean: 76.1412, spread: 0.355567, seeds: 3, seconds: 12.9 },
};
