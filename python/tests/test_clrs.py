"""The task clrs: its graphs against the published definition, its network, hostile checkpoints."""

import heapq
import importlib.util
import json
import struct
import sys
import unittest

from fake_harness import run_grader
from support import TASKS, FolderTest, needs_numpy

ENV, HIDDEN = TASKS / "clrs" / "env", TASKS / "clrs" / "hidden"

needs_torch = unittest.skipUnless(
    importlib.util.find_spec("torch") and importlib.util.find_spec("safetensors"),
    "torch or safetensors is not installed for this Python",
)


def load_module(name: str):
    """A module of the task's env/, which is not on the path."""
    spec = importlib.util.spec_from_file_location(name, ENV / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@needs_numpy
class Graphs(unittest.TestCase):
    def setUp(self) -> None:
        self.graphs = load_module("graphs")

    def draw(self, nodes: int, count: int = 6, probability: float = 0.5):
        import numpy as np

        random = np.random.default_rng(nodes)
        return self.graphs.draw_batch(random, count, nodes, (probability,))

    def test_a_path_of_three_nodes_by_hand(self) -> None:
        import numpy as np

        weights = np.array([[[0, 0.2, 0.9], [0.2, 0, 0.3], [0.9, 0.3, 0]]])
        batch = self.graphs.solve(weights, self.graphs.even_positions(None, 1, 3))
        self.assertEqual(batch.pointers[0].tolist(), [[0, 0, 1], [1, 1, 1], [1, 2, 2]])
        self.assertEqual(batch.positions[0].tolist(), [0, np.float32(1 / 3), np.float32(2 / 3)])
        self.assertEqual(batch.hint_pointers[0][0].tolist(), [[0] * 3, [1] * 3, [2] * 3])
        # Before paths may lead through node 2, all paths through 0 and 1 are known.
        self.assertAlmostEqual(float(batch.hint_distances[2][0, 0, 2]), 0.5, places=6)
        self.assertEqual(batch.hint_reached[0][0].tolist(), np.ones((3, 3)).tolist())

    def test_nodes_without_a_path_keep_their_pointer_to_the_source(self) -> None:
        import numpy as np

        batch = self.graphs.solve(np.zeros((1, 3, 3)), self.graphs.even_positions(None, 1, 3))
        self.assertEqual(batch.pointers[0].tolist(), [[0] * 3, [1] * 3, [2] * 3])
        self.assertEqual(batch.hint_reached[2][0].tolist(), np.eye(3).tolist())

    def test_pointers_lead_back_along_a_shortest_path(self) -> None:
        for nodes, probability in ((5, 0.9), (9, 0.5), (12, 0.4)):
            batch = self.draw(nodes, 4, probability)
            for graph in range(4):
                weights = batch.weights[graph].astype(float)
                for source in range(nodes):
                    lengths = shortest(weights, source)
                    for target, length in lengths.items():
                        if target == source:
                            continue
                        walked, place = 0.0, target
                        while place != source:
                            before = int(batch.pointers[graph, source, place])
                            self.assertGreater(weights[before, place], 0)
                            walked += weights[before, place]
                            place = before
                        self.assertAlmostEqual(walked, length, places=5)

    def test_graphs_are_symmetric_with_the_expected_density(self) -> None:
        batch = self.draw(40, 8)
        self.assertTrue((batch.weights == batch.weights.transpose(0, 2, 1)).all())
        # An edge exists where both directions were drawn.
        self.assertAlmostEqual(float((batch.weights > 0).mean()), 0.25, delta=0.03)
        self.assertTrue((batch.positions[:, 1:] >= batch.positions[:, :-1]).all())

    def test_graphs_are_those_of_the_published_package(self) -> None:
        try:
            import clrs
        except ImportError:
            self.skipTest("the package dm-clrs is not installed for this Python")
        import numpy as np

        for nodes, probabilities in ((4, (0.5,)), (9, (0.1, 0.5, 0.9)), (16, (0.3,))):
            count = 12
            sampler, _ = clrs.build_sampler(
                "floyd_warshall", num_samples=count, length=nodes, seed=nodes, p=probabilities
            )
            theirs = sampler.next()
            random = np.random.RandomState(nodes)
            weights = [self.graphs.draw_weights(random, nodes, probabilities) for _ in range(count)]
            positions = self.graphs.even_positions(None, count, nodes)
            ours = self.graphs.solve(np.stack(weights), positions)
            points = (*theirs.features.inputs, *theirs.features.hints, *theirs.outputs)
            data = {point.name: point.data for point in points}
            self.assertEqual(theirs.features.lengths.tolist(), [nodes] * count)
            middles = np.tile(np.eye(nodes)[:, None], (1, count, 1))
            pairs = {
                "pos": ours.positions,
                "A": ours.weights,
                "adj": ours.edges,
                "Pi": ours.pointers,
                "Pi_h": ours.hint_pointers,
                "D": ours.hint_distances,
                "msk": ours.hint_reached,
                "k": middles,
            }
            self.assertEqual(pairs.keys(), data.keys())
            for name, array in pairs.items():
                found = np.asarray(data[name])
                self.assertEqual(found.shape, array.shape, name)
                self.assertTrue((found.astype(array.dtype) == array).all(), name)


def shortest(weights, source: int) -> dict[int, float]:
    """Dijkstra's algorithm: the length of the shortest path to each node that can be reached."""
    lengths, queue = {}, [(0.0, source)]
    while queue:
        length, node = heapq.heappop(queue)
        if node in lengths:
            continue
        lengths[node] = length
        for other, weight in enumerate(weights[node]):
            if weight > 0:
                heapq.heappush(queue, (length + weight, other))
    return lengths


@needs_torch
class Network(unittest.TestCase):
    def setUp(self) -> None:
        import numpy as np
        import torch

        self.torch = torch
        self.config_module = load_module("config")
        self.reasoner = load_module("reasoner")
        batch = load_module("graphs").draw_batch(np.random.default_rng(0), 3, 5, (0.6,))
        self.inputs = [torch.from_numpy(a) for a in (batch.positions, batch.weights, batch.edges)]

    def model(self, **choices):
        self.torch.manual_seed(0)
        return self.reasoner.Reasoner(self.config_module.Config(hidden=8, **choices))

    def test_all_variants_run_forward_and_backward(self) -> None:
        forms = [
            {name: value} for name, values in self.config_module.CHOICES.items() for value in values
        ]
        forms += [{"triplets": 0}, {"message_layers": 0}, {"message_passing_steps": 3}]
        forms += [{"gated": False}, {"layer_norm": False}, {"processor": "attention", "heads": 4}]
        forms += [{"processor": "neighbours", "aggregator": how} for how in ("mean", "sum", "min")]
        for form in forms:
            with self.subTest(form):
                model = self.model(**form)
                logits, hints = model(*self.inputs)
                self.assertEqual(logits.shape, (3, 5, 5, 5))
                self.assertEqual(len(hints), 0 if form.get("hints") == "none" else 4)
                logits.square().mean().backward()
                self.assertTrue(logits.isfinite().all())
                with self.torch.no_grad():
                    again, nothing = model(*self.inputs)
                self.assertTrue(self.torch.allclose(again, logits, atol=1e-5))
                self.assertEqual(nothing, [])

    def test_splitting_the_work_to_save_memory_changes_neither_results_nor_gradients(self) -> None:
        found = []
        for size in (2**30, 1):
            self.reasoner.CACHED = size
            model = self.model()
            logits, hints = model(*self.inputs)
            loss = logits.logsumexp(-1).mean() + hints[1].pointers.logsumexp(-1).mean()
            loss.backward()
            found.append([logits, *(p.grad for p in model.parameters() if p.grad is not None)])
        self.assertGreater(len(found[0]), 20)
        for whole, cut in zip(*found, strict=True):
            self.assertTrue(self.torch.allclose(whole, cut, atol=1e-6))

    def test_renaming_nodes_renames_the_answers(self) -> None:
        # With hints the order of nodes matters: paths may lead through them in that order.
        model = self.model(hints="none")
        order = self.torch.tensor([3, 0, 4, 1, 2])
        positions, weights, edges = self.inputs
        renamed = [positions[:, order], *(a[:, order][:, :, order] for a in (weights, edges))]
        logits, _ = model(*self.inputs)
        expected = logits[:, order][:, :, order][..., order]
        self.assertTrue(self.torch.allclose(model(*renamed)[0], expected, atol=1e-5))

    def test_a_config_is_read_as_it_was_written_and_checked(self) -> None:
        config = self.config_module.Config(hidden=12, heads=3, processor="attention", gated=False)
        text = self.config_module.write_config(config)
        self.assertEqual(self.config_module.read_config(text), config)
        self.assertEqual(self.config_module.read_config("{}"), self.config_module.Config())
        for wrong in HOSTILE_CONFIGS:
            with self.subTest(wrong[:40]), self.assertRaises(ValueError):
                self.config_module.read_config(wrong)


HOSTILE_CONFIGS = [
    "",
    "[]",
    "[" * 5000,
    '"text"',
    '{"hidden": 128.0}',
    '{"hidden": true}',
    '{"hidden": "128"}',
    '{"hidden": 100000}',
    '{"hidden": NaN}',
    '{"hidden": 10, "heads": 3}',
    '{"gated": 1}',
    '{"processor": "floyd_warshall"}',
    '{"processor": []}',
    '{"aggregator": {}}',
    '{"message_passing_steps": 1000000}',
    '{"__class__": "os"}',
    '{"code": "import os"}',
]


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@needs_torch
class Grader(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        import numpy as np
        import torch
        from safetensors.torch import save

        self.torch, self.save = torch, save
        self.config_module = load_module("config")
        self.reasoner = load_module("reasoner")
        files = [
            {"format": "file", "path": path, "description": path}
            for path in ("config.json", "checkpoint.safetensors")
        ]
        self.write("task.json", json.dumps({"metric": {}, "submission": {"files": files}}))
        batch = load_module("graphs").draw_batch(np.random.default_rng(0), 5, 6, (0.5,))
        for folder in ("public", "private", "submissions"):
            (self.folder / folder).mkdir()
        for name in ("positions", "weights", "edges", "pointers"):
            np.save(self.folder / "private" / f"{name}.npy", getattr(batch, name))
        torch.manual_seed(0)
        self.config = self.config_module.Config(hidden=8)
        self.weights = self.reasoner.Reasoner(self.config).state_dict()
        inputs = [torch.from_numpy(a) for a in (batch.positions, batch.weights, batch.edges)]
        model = self.reasoner.Reasoner(self.config)
        model.load_state_dict(self.weights)
        with torch.no_grad():
            predicted = model(*inputs)[0].argmax(-1).numpy()
        self.expected = float((predicted == batch.pointers).mean())

    def submit(self, name: str, weights: object = None, config: str | None = None) -> None:
        text = self.config_module.write_config(self.config) if config is None else config
        self.write(f"submissions/{name}/config.json", text)
        data = self.weights if weights is None else weights
        content = data if isinstance(data, bytes) else self.save(data)
        self.write(f"submissions/{name}/checkpoint.safetensors", content)

    def changed(self, name: str, array) -> dict:
        return {**self.weights, name: array}

    def test_the_score_of_a_checkpoint_is_its_share_of_correct_pointers(self) -> None:
        self.submit("good")
        graded = run_grader(HIDDEN / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        self.assertAlmostEqual(graded.results["good"]["score"], self.expected)

    def test_nothing_else_is_accepted(self) -> None:
        torch = self.torch
        name = "encode_nodes.weight"
        good = self.weights[name]
        self.submit("ok")
        self.submit("nan", self.changed(name, torch.full_like(good, float("nan"))))
        self.submit("infinite", self.changed(name, torch.full_like(good, float("inf"))))
        self.submit("huge", {key: torch.full_like(a, 3e38) for key, a in self.weights.items()})
        self.submit("shape", self.changed(name, good.T.contiguous()))
        self.submit("type", self.changed(name, good.double()))
        self.submit("extra", self.changed("more", good.clone()))
        self.submit("fewer", {key: a for key, a in self.weights.items() if key != name})
        self.submit("pickle", b"\x80\x02cos\nsystem\nq\x00X\x02\x00\x00\x00idq\x01\x85R.")
        self.submit("zip", b"PK\x03\x04" + bytes(100))
        self.submit("long header", struct.pack("<Q", 2**62) + b"{}")
        self.submit("no header", safetensors(b"[[[["))
        entry = {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}
        self.submit("beyond the end", safetensors({name: entry}))
        entry = {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}
        self.submit("negative", safetensors({name: entry}, bytes(4)))
        entries = {
            key: {"dtype": "F32", "shape": [1] * 100_000, "data_offsets": [4 * at, 4 * at + 4]}
            for at, key in enumerate(self.weights)
        }
        self.submit("many dimensions", safetensors(entries, bytes(4 * len(entries))))
        self.submit("other config", config='{"hidden": 16}')
        self.submit("large config", config='{"hidden": 8, "x": "' + "x" * 20_000 + '"}')
        self.submit("larger config", config='{"hidden": 256, "message_layers": 3}')
        for number, config in enumerate(HOSTILE_CONFIGS[1:]):
            self.submit(f"config {number:02}", config=config)
        graded = run_grader(HIDDEN / "grade.py", self.folder)
        self.assertEqual((graded.exit_code, graded.errors), (0, ""))
        accepted = [key for key, result in graded.results.items() if result["valid"]]
        self.assertEqual(accepted, ["ok"])
        codes = {key: [p["code"] for p in r["problems"]] for key, r in graded.results.items()}
        for key in ("nan", "infinite", "huge"):
            self.assertEqual(codes[key], ["not_finite"], key)
        shapes = ("shape", "type", "extra", "fewer", "many dimensions")
        for key in (*shapes, "other config", "larger config"):
            self.assertEqual(codes[key], ["wrong_shape"], key)
        for key in ("pickle", "zip", "long header", "no header", "beyond the end", "negative"):
            self.assertEqual(codes[key], ["unreadable"], key)
        for result in graded.results.values():
            self.assertLess(len(json.dumps(result)), 2_000)
        self.assertEqual(codes["large config"], ["too_large"])
        self.assertEqual(codes["config 00"], ["not_allowed"])


if __name__ == "__main__":
    unittest.main()
