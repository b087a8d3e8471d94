import unittest

import support  # noqa: F401

from mlab_task.timing import Comparison, compare


class Timing(unittest.TestCase):
    def test_the_sides_take_turns_at_going_first(self) -> None:
        order: list[str] = []

        def side(name: str) -> float:
            order.append(name)
            return len(order)

        comparison = compare(3, lambda: side("mine"), lambda: side("its"))
        self.assertEqual(order, ["mine", "its", "its", "mine", "mine", "its"])
        self.assertEqual(comparison, Comparison([1, 4, 5], [2, 3, 6]))

    def test_a_submission_that_is_clearly_faster_gets_its_own_median(self) -> None:
        score = Comparison([1, 1, 2, 2, 1.5], [3, 4, 3, 4, 3.5]).score()
        self.assertEqual((score.value, score.baseline), (1.5, 3.5))

    def test_a_submission_that_only_seems_faster_gets_the_starters_median(self) -> None:
        score = Comparison([1, 1, 2, 4, 5], [3, 3, 3, 3, 3]).score()
        self.assertEqual((score.value, score.baseline), (3, 3))
        self.assertEqual(score.details["submission_median"], 2)

    def test_a_submission_that_is_clearly_slower_keeps_its_own_median(self) -> None:
        score = Comparison([4, 5, 4, 5, 4], [3, 3, 3, 3, 3]).score()
        self.assertEqual((score.value, score.baseline), (4, 3))

    def test_a_submission_that_only_seems_slower_gets_the_starters_median(self) -> None:
        score = Comparison([4, 4, 4, 1, 1], [3, 3, 3, 3, 3]).score()
        self.assertEqual((score.value, score.baseline), (3, 3))


if __name__ == "__main__":
    unittest.main()
