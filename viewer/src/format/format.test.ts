import { expect, test } from 'vitest';
import {
  missingDecimals,
  showAmount,
  showChange,
  showCounts,
  showDifference,
  showFigure,
  showInterval,
  showMoney,
  showP,
  showPoints,
  showScore,
  showSeconds,
  showShare,
  showTest,
  showTokens,
} from './numbers.ts';
import { showAgo } from './time.ts';

test.each([
  [showScore(0.912345), '0.9123'],
  [showScore(55417.2), '55,417'],
  [showFigure(0.024673), '0.0247'],
  [showFigure(1234.5), '1,235'],
  [showDifference(0.77334), '+0.773'],
  [showScore(null), '–'],
  [showShare(1), '100 %'],
  [showShare(0.4583), '45.8 %'],
  [showShare(-0.004), '−0.4 %'],
  [showShare(0.1296), '13.0 %'],
  [showChange(0.133), '+13.3 %'],
  [showChange(0), '0 %'],
  [showChange(0.0004), '0 %'],
  [showChange(-0.0004), '0 %'],
  [showChange(0.9996), '+100 %'],
  [showPoints(-0.5), '−50'],
  [showPoints(0.123), '+12.3'],
  [showInterval({ low: 0.555, high: 1 }, showPoints), '+55.5 to +100'],
  [showDifference(0), '0'],
  [showDifference(0.25), '+0.25'],
  [showInterval({ low: 0.342, high: 1 }, showShare), '34.2–100 %'],
  [showInterval({ low: -0.003, high: 0.017 }, showChange), '−0.3 to +1.7 %'],
  [showCounts({ successes: 0, runs: 3 }), '0 of 3'],
  [showSeconds(0.0123), '12 ms'],
  [showSeconds(59.7), '60 s'],
  [showSeconds(61), '1 min 1 s'],
  [showSeconds(65.889), '1 min 6 s'],
  [showSeconds(3599.7), '1 h'],
  [showSeconds(120.4), '2 min'],
  [showSeconds(7320), '2 h 2 min'],
  [showSeconds(18_000), '5 h'],
  [showAmount(999), '999'],
  [showAmount(1234), '1.23 k'],
  [showAmount(76_900_000), '76.9 M'],
  [showTokens(1234, 0), '1.23 k'],
  [showTokens(1234, 5), '≈ 1.23 k'],
  [showMoney(0.00123), '$0.0012'],
  [showMoney(1.5), '$1.50'],
  [showP(0.009495), 'p = 0.009'],
  [showP(0.0004), 'p < 0.001'],
  [showTest({ p: 0.01, p_corrected: 0.02 }), 'p = 0.020 adjusted (Holm), p = 0.010 alone'],
  [showTest({ p: 0.01, p_corrected: 0.01 }), 'p = 0.010'],
  [missingDecimals('0.9123', 4), ''],
  [missingDecimals('0.91', 4), '00'],
  [missingDecimals('−1', 2), '.00'],
  [missingDecimals('12', 0), ''],
  [missingDecimals(showScore(null), 2), ''],
])('numbers are shown as people read them: %s', (shown, expected) => {
  expect(shown).toBe(expected);
});

test('elapsed time is shown in the largest unit that fits', () => {
  const now = Date.UTC(2026, 0, 2);
  expect(showAgo(now - 5000, now)).toBe('5 seconds ago');
  expect(showAgo(now - 3_600_000, now)).toBe('1 hour ago');
  expect(showAgo(now - 86_400_000, now)).toBe('yesterday');
});
