import random
import unittest

import support  # noqa: F401

from mlab_task.splitting import hold_out_groups, hold_out_of_each

GROUPS = [f"group {number % 40}" for number in range(400)]


class WholeGroups(unittest.TestCase):
    def test_a_group_is_hidden_completely_or_not_at_all(self) -> None:
        hidden = hold_out_groups(GROUPS, 0.3)
        by_group = dict(zip(GROUPS, hidden, strict=True))
        self.assertEqual([by_group[group] for group in GROUPS], hidden)

    def test_groups_are_hidden_until_the_share_is_reached(self) -> None:
        self.assertEqual(sum(hold_out_groups(GROUPS, 0.3)), 120)
        self.assertEqual(sum(hold_out_groups(GROUPS, 0.301)), 130)
        self.assertEqual(sum(hold_out_groups(GROUPS, 0)), 0)

    def test_the_order_of_the_rows_does_not_matter(self) -> None:
        def hidden_groups(groups: list[str]) -> set[str]:
            pairs = zip(groups, hold_out_groups(groups, 0.3), strict=True)
            return {group for group, hidden in pairs if hidden}

        mixed = random.Random(1).sample(GROUPS, k=len(GROUPS))
        self.assertEqual(hidden_groups(mixed), hidden_groups(GROUPS))

    def test_the_largest_groups_are_never_hidden(self) -> None:
        groups = ["large"] * 50 + [f"small {number}" for number in range(50)]
        for share in (0.3, 0.9):
            hidden = hold_out_groups(groups, share, largest_share=0.03)
            self.assertFalse(any(hidden[:50]))
        self.assertEqual(sum(hold_out_groups(groups, 0.9, largest_share=0.03)), 50)


class PartsOfClasses(unittest.TestCase):
    labels = ["a"] * 10 + ["b"] * 5 + ["c"]

    def test_the_share_of_every_class_is_hidden(self) -> None:
        contents = [str(number) for number in range(16)]
        hidden = hold_out_of_each(self.labels, contents, 0.5)
        self.assertEqual([sum(hidden[:10]), sum(hidden[10:15]), sum(hidden[15:])], [5, 3, 1])

    def test_what_is_hidden_depends_on_the_content_and_not_on_the_order(self) -> None:
        contents = [f"content {number}" for number in range(16)]
        rows = list(zip(self.labels, contents, strict=True))

        def hidden_contents(rows: list[tuple[str, str]]) -> set[str]:
            labels, texts = zip(*rows, strict=True)
            hidden = hold_out_of_each(labels, texts, 0.4)
            return {text for text, is_hidden in zip(texts, hidden, strict=True) if is_hidden}

        expected = hidden_contents(rows)
        self.assertNotEqual(expected, set(contents[:4] + contents[10:12]))
        self.assertEqual(hidden_contents(random.Random(2).sample(rows, k=16)), expected)


if __name__ == "__main__":
    unittest.main()
