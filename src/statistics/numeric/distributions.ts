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

/**
 * The value that a variable with Student's t-distribution stays below with this probability.
 * @param probability between 0.5 and 1, without 1
 * @param freedom degrees of freedom, a whole number from 1 on
 */
export function studentQuantile(probability: number, freedom: number): number {
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
