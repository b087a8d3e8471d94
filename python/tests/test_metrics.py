import math
import random
import unittest

import support  # noqa: F401

from mlab_task.metrics import (
    average_precision,
    balanced_accuracy,
    brier_score,
    f1,
    log_loss,
    macro_f1,
    ndcg,
    pearson_correlation,
    pinball_loss,
    quadratic_weighted_kappa,
    r_squared,
    roc_auc,
    root_mean_squared_logarithmic_error,
    spearman_correlation,
    weighted_absolute_percentage_error,
)


class OfClasses(unittest.TestCase):
    def test_f1_weighs_false_alarms_against_misses(self) -> None:
        labels = ["yes", "yes", "yes", "no", "no"]
        predictions = ["yes", "yes", "no", "yes", "no"]
        precision, recall = 2 / 3, 2 / 3
        expected = 2 * precision * recall / (precision + recall)
        self.assertAlmostEqual(f1(labels, predictions, "yes"), expected)
        self.assertEqual(f1(labels, predictions, "perhaps"), 0)

    def test_macro_f1_gives_rare_and_frequent_classes_the_same_weight(self) -> None:
        labels = ["a"] * 98 + ["b"] * 2
        self.assertAlmostEqual(macro_f1(labels, ["a"] * 100), (2 * 98 / 198) / 2)
        self.assertEqual(macro_f1(labels, labels), 1)
        self.assertEqual(macro_f1(labels, ["c"] * 100), 0)

    def test_the_balanced_accuracy_of_a_constant_is_one_over_the_number_of_classes(self) -> None:
        labels = ["a"] * 90 + ["b"] * 6 + ["c"] * 4
        self.assertAlmostEqual(balanced_accuracy(labels, ["a"] * 100), 1 / 3)
        self.assertAlmostEqual(balanced_accuracy(labels, ["a"] * 93 + ["b"] * 7), (1 + 0.5 + 0) / 3)
        self.assertEqual(balanced_accuracy(labels, labels), 1)

    def test_the_quadratic_weighted_kappa_counts_errors_by_their_square(self) -> None:
        labels, predictions = [1, 2, 3, 4, 5, 5], [1, 2, 4, 4, 3, 5]
        # The squared distances are 0, 0, 1, 0, 4 and 0.
        by_chance = sum((one - other) ** 2 for one in labels for other in predictions) / 36
        expected = 1 - (5 / 6) / by_chance
        self.assertAlmostEqual(quadratic_weighted_kappa(labels, predictions), expected)
        self.assertAlmostEqual(quadratic_weighted_kappa(labels, [3] * 6), 0)
        self.assertEqual(quadratic_weighted_kappa(labels, labels), 1)
        with self.assertRaises(ValueError):
            quadratic_weighted_kappa([2, 2], [2, 2])

    def test_the_gain_of_a_ranked_list_is_divided_by_that_of_the_best_one(self) -> None:
        possible = [1.0, 1.0, 1.0, 0.0, 0.0]
        self.assertEqual(ndcg([1.0, 1.0, 0.0], possible, 2), 1)
        second = 1 / math.log2(3)
        self.assertAlmostEqual(ndcg([0.0, 1.0], possible, 2), second / (1 + second))
        self.assertEqual(ndcg([0.0, 0.0, 1.0], possible, 2), 0)
        with self.assertRaises(ValueError):
            ndcg([0.0], [0.0, 0.0], 1)

    def test_the_area_under_the_curve_is_the_share_of_pairs_in_order(self) -> None:
        drawn = random.Random(3)
        for size in (2, 5, 40):
            labels = [True, False] + [drawn.random() < 0.3 for _ in range(size - 2)]
            scores = [float(drawn.randrange(6)) for _ in labels]
            pairs = [
                (one > other) + (one == other) / 2
                for one, is_true in zip(scores, labels, strict=True)
                for other, is_other in zip(scores, labels, strict=True)
                if is_true and not is_other
            ]
            self.assertAlmostEqual(roc_auc(labels, scores), sum(pairs) / len(pairs))

    def test_one_kind_of_label_has_no_area(self) -> None:
        for labels in ([True, True], [False], []):
            with self.assertRaises(ValueError):
                roc_auc(labels, [0.5] * len(labels))

    def test_log_loss_is_the_mean_surprise(self) -> None:
        even = log_loss([0, 1], [[0.5, 0.5], [0.5, 0.5]])
        self.assertAlmostEqual(even, math.log(2))
        self.assertEqual(log_loss([1], [[0, 3]]), 0)
        self.assertAlmostEqual(
            log_loss([0, 0], [[2, 6], [0, 1]]), (math.log(4) - math.log(1e-15)) / 2
        )

    def test_what_is_not_a_probability_is_refused(self) -> None:
        for row in ([-0.1, 1.1], [0, 0], [math.inf, 1], [math.nan, 1]):
            with self.assertRaises(ValueError, msg=str(row)):
                log_loss([0], [row])

    def test_average_precision_is_the_mean_precision_at_each_hit(self) -> None:
        labels = [True, False, True, False]
        self.assertAlmostEqual(average_precision(labels, [9, 7, 5, 3]), (1 + 2 / 3) / 2)
        self.assertEqual(average_precision(labels, [2, 1, 2, 1]), 1)
        self.assertEqual(average_precision(labels, [7, 7, 7, 7]), 0.5)
        with self.assertRaises(ValueError):
            average_precision([False, False], [1, 2])

    def test_the_brier_score_is_the_squared_distance_from_the_truth(self) -> None:
        self.assertAlmostEqual(brier_score([True, False], [0.9, 0.2]), (0.01 + 0.04) / 2)
        self.assertEqual(brier_score([True, False], [0.5, 0.5]), 0.25)
        self.assertAlmostEqual(brier_score([True, False, False, False], [0.25] * 4), 0.25 * 0.75)
        for wrong in (-0.1, 1.1, math.nan):
            with self.assertRaises(ValueError, msg=str(wrong)):
                brier_score([True], [wrong])


class OfNumbers(unittest.TestCase):
    def test_the_logarithmic_error_is_about_ratios_of_1_plus_the_value(self) -> None:
        tenfold = root_mean_squared_logarithmic_error([0.0, 9.0], [9.0, 99.0])
        self.assertAlmostEqual(tenfold, math.log(10))
        with self.assertRaises(ValueError):
            root_mean_squared_logarithmic_error([1.0], [-1.0])

    def test_the_best_constant_of_the_pinball_loss_is_the_quantile(self) -> None:
        labels = [float(each) for each in range(101)]
        constants = range(-5, 106, 5)
        for quantile in (0.1, 0.5, 0.9):
            losses = {each: pinball_loss(labels, [each] * 101, quantile) for each in constants}
            self.assertEqual(min(losses, key=losses.__getitem__), 100 * quantile)
        self.assertAlmostEqual(pinball_loss([3.0, 1.0], [1.0, 3.0], 0.9), (0.9 * 2 + 0.1 * 2) / 2)

    def test_pearson_is_about_lines_and_spearman_about_order(self) -> None:
        labels = [1.0, 2.0, 3.0, 4.0]
        self.assertAlmostEqual(pearson_correlation(labels, [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(pearson_correlation(labels, [1, 10, 100, 1000]), 0.8241407, 6)
        self.assertAlmostEqual(spearman_correlation(labels, [1, 10, 100, 1000]), 1)
        self.assertAlmostEqual(spearman_correlation(labels, [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(spearman_correlation([1, 2, 2, 3], [1, 2, 3, 4]), math.sqrt(0.9))
        self.assertAlmostEqual(pearson_correlation([0, 1], [-1e308, 1e308]), 1)

    def test_constant_predictions_get_no_correlation_and_constant_labels_no_score(self) -> None:
        for correlation in (pearson_correlation, spearman_correlation):
            self.assertEqual(correlation([1, 2, 3], [0.1, 0.1, 0.1]), 0)
            for labels, predictions in (([0.1] * 3, [1, 2, 3]), ([], []), ([1, 2], [1, 2, 3])):
                with self.assertRaises(ValueError, msg=str(labels)):
                    correlation(labels, predictions)

    def test_r_squared_is_zero_for_the_mean_and_negative_for_worse(self) -> None:
        labels = [1.0, 2.0, 6.0]
        self.assertEqual(r_squared(labels, labels), 1)
        self.assertEqual(r_squared(labels, [3, 3, 3]), 0)
        self.assertAlmostEqual(r_squared(labels, [2, 2, 4]), 1 - 5 / 14)
        self.assertLess(r_squared(labels, [4, 4, 4]), 0)
        with self.assertRaises(ValueError):
            r_squared([0.1, 0.1, 0.1], [1, 2, 3])

    def test_wape_weighs_errors_by_the_size_of_the_whole(self) -> None:
        self.assertAlmostEqual(weighted_absolute_percentage_error([1, -3, 0], [2, -3, 1]), 0.5)
        self.assertEqual(weighted_absolute_percentage_error([1, 2], [0, 0]), 1)
        with self.assertRaises(ValueError):
            weighted_absolute_percentage_error([0, 0], [1, 1])


if __name__ == "__main__":
    unittest.main()
