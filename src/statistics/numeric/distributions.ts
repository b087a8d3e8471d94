/**
 * The standard normal distribution function by its series (Marsaglia 2004, doi:10.18637/jss.v011.i04); the absolute
 * error is below 1e-14.
 */
export function normalCdf(x: number): number {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0;
  let sum = x;
  let term = x;
  for (let odd = 3; Math.abs(term) > 1e-18 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd;
    sum += term;
  }
  return 0.5 + sum * Math.exp(-0.5 * x * x - 0.5 * Math.log(2 * Math.PI));
}

/** Beyond this the sum would be slow, and the series is exact to more than ten digits. */
const maxSummed = 1000;

/**
 * The value below which a variable with Student's t-distribution stays with this probability.
 * @param probability between 0.5 and 1, without 1
 * @param freedom degrees of freedom, a whole number from 1 on
 */
export function studentQuantile(probability: number, freedom: number): number {
  if (freedom > maxSummed) return nearlyNormalQuantile(probability, freedom);
  const wanted = 2 * probability - 1;
  let low = 0;
  let high = Math.PI / 2;
  for (let round = 0; round < 60; round += 1) {
    const angle = (low + high) / 2;
    if (withinAngle(angle, freedom) < wanted) low = angle;
    else high = angle;
  }
  return Math.tan(low) * Math.sqrt(freedom);
}

/** P(|t| < √freedom · tan(angle)), a finite sum (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4). */
function withinAngle(angle: number, freedom: number): number {
  const cosine = Math.cos(angle);
  const isOdd = freedom % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k < freedom; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** The first terms of the series in 1 / freedom (Abramowitz & Stegun 1964, 26.7.5). */
function nearlyNormalQuantile(probability: number, freedom: number): number {
  const x = normalQuantile(probability);
  const first = (x ** 3 + x) / 4;
  const second = (5 * x ** 5 + 16 * x ** 3 + 3 * x) / 96;
  const third = (3 * x ** 7 + 19 * x ** 5 + 17 * x ** 3 - 15 * x) / 384;
  return x + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

function normalQuantile(probability: number): number {
  let [low, high] = [0, 8];
  for (let round = 0; round < 60; round += 1) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < probability) low = middle;
    else high = middle;
  }
  return low;
}
