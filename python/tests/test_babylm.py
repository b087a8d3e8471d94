"""The babylm task: what is hidden, how a likelihood is counted, and what is not a language
model."""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import unittest
from typing import Any

from fake_harness import run_grader
from support import HELPERS, TASKS, FolderTest

from mlab_task.problems import Rejected

HIDDEN = TASKS / "babylm" / "hidden"
FILES = {
    "config.json": "{}",
    "model.safetensors": "\2\0\0\0\0\0\0\0{}",
    "tokenizer.json": "{}",
}
TEXT = 'Where is it?\n\nHere – it is "here".  Yes.\n'
END = "<|endoftext|>"

needs_tokenizers = unittest.skipUnless(
    importlib.util.find_spec("tokenizers"), "tokenizers is not installed for this Python"
)
needs_transformers = unittest.skipUnless(
    importlib.util.find_spec("torch") and importlib.util.find_spec("transformers"),
    "torch and transformers are not installed for this Python",
)


class Grader(FolderTest):
    """The grader with another evaluation instead of the one that needs torch."""

    def grade(self, evaluation: str, seconds: int = 900) -> dict[str, Any]:
        declared = [{"format": "file", "path": f"model/{name}"} for name in FILES]
        task = {"metric": {}, "submission": {"files": declared, "max_mb": 1}}
        self.write("task.json", json.dumps(task))
        self.write("private/hidden_text.json", "{}")
        (self.folder / "public").mkdir()
        for name, content in FILES.items():
            self.write(f"submissions/one/model/{name}", content)
        script = (HIDDEN / "grade.py").read_text()
        script = script.replace("MOST_SECONDS = 900", f"MOST_SECONDS = {seconds}")
        self.write("hidden/evaluate.py", evaluation)
        self.write("hidden/layout.py", (HIDDEN / "layout.py").read_text())
        graded = run_grader(self.write("hidden/grade.py", script), self.folder)
        self.assertEqual(graded.exit_code, 0, graded.errors)
        return graded.results["one"]

    def answer(self, *texts: dict[str, Any]) -> str:
        return f"print('a warning')\nprint({json.dumps({'texts': texts})!r})"

    def test_the_perplexity_is_per_token_of_the_given_tokenizer(self) -> None:
        first = {"source": "a", "bytes": 40, "given_tokens": 10, "tokens": 10, "nats": 20.0}
        second = {"source": "b", "bytes": 60, "given_tokens": 30, "tokens": 5, "nats": 60.0}
        result = self.grade(self.answer(first, second))
        self.assertAlmostEqual(result["score"], math.exp(80 / 40))
        details = result["details"]
        self.assertAlmostEqual(details["bits_per_byte"], 80 / math.log(2) / 100)
        self.assertAlmostEqual(details["perplexity_per_submitted_token"], math.exp(80 / 15))
        self.assertAlmostEqual(details["perplexity_of_source"]["a"], math.exp(2))

    def test_an_evaluation_that_fails_counts_against_the_submission(self) -> None:
        rejected = {"rejected": {"code": "not_finite", "message": "no"}}
        huge = {"source": "a", "bytes": 1, "given_tokens": 1, "tokens": 1, "nats": 1e9}
        for evaluation, code in [
            (f"print({json.dumps(rejected)!r})", "not_finite"),
            (self.answer(huge), "out_of_range"),
            ("import time; time.sleep(60)", "timed_out"),
            ("import os; os.abort()", "crashed"),
            ("raise SystemExit(3)", "crashed"),
            ("", "crashed"),
        ]:
            with self.subTest(evaluation):
                self.setUp()
                result = self.grade(evaluation, 1 if code == "timed_out" else 900)
                self.assertFalse(result["valid"])
                self.assertEqual([problem["code"] for problem in result["problems"]], [code])


class Layout(FolderTest):
    """What is reported without the packages that read models."""

    def assert_rejected(self, code: str, **changed: str) -> None:
        for name, content in FILES.items():
            self.write(f"model/{name}", changed.get(name.partition(".")[0], content))
        with self.assertRaises(Rejected) as raised:
            self.layout.check_layout(self.folder / "model")
        self.assertEqual(raised.exception.problem.code, code, raised.exception)

    @classmethod
    def setUpClass(cls) -> None:
        sys.path.insert(0, str(HIDDEN))
        cls.addClassCleanup(sys.path.remove, str(HIDDEN))
        import layout

        cls.layout = layout

    def test_files_of_text_have_a_size_limit(self) -> None:
        for name, most_bytes in self.layout.MOST_BYTES.items():
            with self.subTest(name):
                long = "{" + " " * most_bytes + "}"
                self.assert_rejected("too_large", **{name.partition(".")[0]: long})

    def test_what_is_not_an_object_is_refused(self) -> None:
        for name in ("config", "tokenizer"):
            for content in ("", "x", "[1]", "[" * 100_000):
                self.assert_rejected("unreadable", **{name: content})
        length = "\7\0\0\0\0\0\0\0"
        for content in ("", "\2\0", length, f"{length}{{}}", f"{length}[[[[[[[", "\0" * 7 + "\1{}"):
            self.assert_rejected("unreadable", model=content)


@needs_tokenizers
class Preparation(FolderTest):
    def run_script(self, name: str, *arguments: str) -> None:
        command = [sys.executable, "-I", "-B", str(HIDDEN / name), *arguments]
        environment = {"PATH": os.environ["PATH"], "MLAB_HELPERS": str(HELPERS)}
        subprocess.run(command, check=True, env=environment, cwd=self.folder)

    def prepare(self) -> None:
        arguments = []
        for name in ("downloads", "public", "private"):
            shutil.rmtree(self.folder / name) if name != "downloads" else None
            (self.folder / name).mkdir(exist_ok=True)
            arguments += [f"--{name}", str(self.folder / name)]
        self.run_script("prepare.py", *arguments)

    def setUp(self) -> None:
        super().setUp()
        for name in ("downloads", "public", "private"):
            (self.folder / name).mkdir()

    def test_the_same_text_gives_the_same_files_and_hides_the_test_part(self) -> None:
        arguments = ("--downloads", str(self.folder / "downloads"), "--seed", "3")
        self.run_script("sample.py", *arguments)
        contents = []
        for _ in range(2):
            self.prepare()
            files = sorted(path for path in self.folder.glob("p*/**/*") if path.is_file())
            contents.append({path.name: path.read_bytes() for path in files})
        self.assertEqual(*contents)
        hidden = json.loads(contents[0]["hidden_text.json"])["texts"]
        self.assertEqual(len(hidden), 10)
        shown = b"".join(text for name, text in contents[0].items() if name != "hidden_text.json")
        for entry in hidden:
            for line in entry["text"].splitlines()[:20]:
                self.assertFalse(len(line) > 60 and line.encode() in shown, line)

    def test_hidden_text_is_cut_at_line_breaks_or_within_a_line_that_is_too_long(self) -> None:
        part = "downloads/babylm_data/babylm_data/babylm"
        self.write(f"{part}_10M/a.train", "ä b c\n" * 50)
        self.write(f"{part}_10M/__MACOSX", "no text")
        self.write(f"{part}_dev/a.dev", "ä b c\n")
        long_line = "ä" * 100_000
        self.write(f"{part}_test/a.test", f"first\n{long_line}\n")
        self.write(f"{part}_test/b.test", b"before\nafter \xff\x85 it\nlast\n" + b"\n" * 2)
        self.prepare()
        hidden = json.loads((self.folder / "private" / "hidden_text.json").read_text())["texts"]
        texts = {entry["source"]: entry["text"] for entry in hidden}
        self.assertEqual(texts["a"], "ä" * (32 * 1024 // 2))
        self.assertEqual(texts["b"], "last\n\n\n")
        self.assertEqual(
            [p.name for p in (self.folder / "public/babylm_10M").iterdir()], ["a.train"]
        )


@needs_transformers
class Evaluation(FolderTest):
    """Runs in this process, so that torch is loaded once."""

    @classmethod
    def setUpClass(cls) -> None:
        os.environ["MLAB_HELPERS"] = str(HELPERS)
        sys.path.insert(0, str(HIDDEN))
        cls.addClassCleanup(sys.path.remove, str(HIDDEN))
        import evaluate
        import language_models
        import torch
        from transformers.utils import logging

        logging.disable_progress_bar()
        logging.set_verbosity_error()
        cls.evaluation, cls.models, cls.torch = evaluate, language_models, torch

    def setUp(self) -> None:
        super().setUp()
        self.model = self.folder / "model"
        self.save()

    def save(self, zero: bool = False, **options: Any) -> None:
        """A small GPT-2 with a tokenizer of bytes."""
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers
        from transformers import GPT2Config, GPT2LMHeadModel

        alphabet = [END, *sorted(pre_tokenizers.ByteLevel.alphabet())]
        vocabulary = {token: number for number, token in enumerate(alphabet)}
        tokenizer = Tokenizer(models.BPE(vocabulary, []))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        sizes = {"n_layer": 1, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 257}
        model = GPT2LMHeadModel(GPT2Config(**(sizes | options), bos_token_id=0, eos_token_id=0))
        if zero:
            for parameter in model.parameters():
                parameter.data.zero_()
        model.save_pretrained(self.model)
        tokenizer.save(str(self.model / "tokenizer.json"))

    def nats(self, text: str = TEXT) -> float:
        entry = {"source": "a", "text": text, "tokens": 9}
        (found,) = self.evaluation.evaluate(self.model, [entry])
        self.assertEqual(found["tokens"], len(text.encode()))
        return found["nats"]

    def configure(self, **options: Any) -> None:
        file = self.model / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | options))

    def assert_rejected(self, code: str) -> None:
        with self.assertRaises(Rejected) as raised:
            self.nats()
        self.assertEqual(raised.exception.problem.code, code, raised.exception)

    def test_a_model_that_knows_nothing_pays_the_same_for_each_token(self) -> None:
        self.save(zero=True)
        for length in (1, 15, 16, 17, 32, 33, 100):
            self.assertAlmostEqual(self.nats("x" * length), length * math.log(257), places=3)

    def test_splitting_a_text_into_blocks_only_limits_the_known_context(self) -> None:
        text = "x" * 17
        row = self.torch.tensor([[0, *[self.byte("x")] * 17]])
        language = self.models.load_model(self.model, "cpu")
        with self.torch.no_grad():
            first = self.torch.log_softmax(language.model(row[:, :16]).logits[0], -1)
            last = self.torch.log_softmax(language.model(row[:, 16:17]).logits[0], -1)
        expected = -(first[:, self.byte("x")].sum() + last[0, self.byte("x")])
        self.assertAlmostEqual(self.nats(text), expected.item(), places=3)

    def byte(self, letter: str) -> int:
        tokenizer = json.loads((self.model / "tokenizer.json").read_text())
        return tokenizer["model"]["vocab"][letter]

    def test_all_architectures_are_loaded_as_they_were_saved(self) -> None:
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "vocab_size": 257}
        shared = sizes | {"num_attention_heads": 2, "max_position_embeddings": 32}
        more = {
            "gpt2": {"n_layer": 1, "n_embd": 16, "n_head": 2, "vocab_size": 257, "n_inner": 24},
            "gpt_neox": shared | {"intermediate_size": 32, "use_parallel_residual": False},
            "llama": shared
            | {"intermediate_size": 32, "num_key_value_heads": 1, "tie_word_embeddings": True},
            "opt": shared | {"ffn_dim": 32, "word_embed_proj_dim": 16},
        }
        for kind, architecture in self.models.ARCHITECTURES.items():
            with self.subTest(kind):
                config = architecture.config(**more[kind], bos_token_id=0)
                saved = architecture.model(config).eval()
                saved.save_pretrained(self.model)
                loaded = self.models.load_model(self.model, "cpu").model
                row = self.torch.arange(12)[None]
                with self.torch.no_grad():
                    same = self.torch.allclose(saved(row).logits, loaded(row).logits, atol=1e-5)
                self.assertTrue(same)
                self.assertGreater(self.nats(), 0)

    def test_options_that_could_help_to_cheat_are_refused(self) -> None:
        for options, code in [
            ({"model_type": "bert"}, "not_allowed"),
            ({"model_type": ["gpt2"]}, "not_allowed"),
            ({"auto_map": {"AutoModel": "evil.Model"}}, "not_allowed"),
            ({"add_cross_attention": True}, "not_allowed"),
            ({"is_causal": False}, "not_allowed"),
            ({"quantization_config": {"quant_method": "gptq"}}, "not_allowed"),
            ({"activation_function": "__import__"}, "not_allowed"),
            ({"layer_norm_epsilon": -1}, "not_allowed"),
            ({"n_layer": 10**9}, "out_of_range"),
            ({"n_embd": True}, "out_of_range"),
            ({"n_embd": 9}, "not_allowed"),
            ({"n_embd": 4096, "n_layer": 64}, "too_large"),
            ({"bos_token_id": 257}, "not_allowed"),
            ({"bos_token_id": None}, "not_allowed"),
            ({"n_layer": 2}, "wrong_shape"),
            ({"n_positions": 8}, "wrong_shape"),
        ]:
            with self.subTest(options):
                self.save()
                self.configure(**options)
                self.assert_rejected(code)
        for content in ("[1]", "nothing", "[" * 100_000):
            (self.model / "config.json").write_text(content)
            self.assert_rejected("unreadable")

    def test_weights_that_are_not_those_of_the_model_are_refused(self) -> None:
        from safetensors.torch import load_file, save_file

        file = self.model / "model.safetensors"
        weights = load_file(file)
        name = "transformer.wte.weight"
        nan = self.torch.full_like(weights[name], float("nan"))
        for changed, code in [
            (weights | {name: nan}, "not_finite"),
            (weights | {name: weights[name][:-1]}, "wrong_shape"),
            (weights | {name: weights[name].int()}, "wrong_shape"),
            (weights | {"transformer.h.0.attn.bias": nan}, "wrong_shape"),
            (weights | {"lm_head.weight": weights[name].clone()}, "wrong_shape"),
            ({key: value for key, value in weights.items() if key != name}, "wrong_shape"),
        ]:
            save_file(changed, file)
            self.assert_rejected(code)
        save_file(weights, file)
        content = file.read_bytes()
        for broken in (content[:-1], b"\x80\x04N.", content[:8] + b"[" + content[9:]):
            file.write_bytes(broken)
            self.assert_rejected("unreadable")

    def test_a_tokenizer_must_be_lossless_and_fit_the_model(self) -> None:
        file = self.model / "tokenizer.json"
        honest = json.loads(file.read_text())
        vocabulary = honest["model"]["vocab"]
        beyond = {token: number + 100 for token, number in vocabulary.items()}
        fewer = {token: number for token, number in vocabulary.items() if token != "W"}
        for changed, code in [
            (honest | {"normalizer": {"type": "Lowercase"}}, "wrong_output"),
            (honest | {"decoder": None}, "wrong_output"),
            (honest | {"model": honest["model"] | {"vocab": fewer}}, "wrong_output"),
            (honest | {"model": honest["model"] | {"vocab": beyond}}, "out_of_range"),
            (honest | {"model": honest["model"] | {"dropout": 0.5}}, "not_allowed"),
            (honest | {"model": {"type": "Unknown"}}, "unreadable"),
        ]:
            file.write_text(json.dumps(changed))
            self.assert_rejected(code)
        cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
        file.write_text(json.dumps(honest | {"truncation": cut}))
        self.assertGreater(self.nats(), 0)

    def test_a_model_that_looks_ahead_is_refused(self) -> None:
        torch = self.torch

        class Ahead(torch.nn.Module):
            def forward(self, tokens: Any) -> Any:
                logits = torch.zeros(*tokens.shape, 257)
                logits[:, :-1].scatter_(2, tokens[:, 1:, None], 20.0)
                return type("Output", (), {"logits": logits})

        cheat = self.models.LanguageModel(Ahead(), 257, 16, 0)
        with self.assertRaises(Rejected) as raised:
            self.evaluation.check_direction(cheat, list(range(1, 40)), "cpu")
        self.assertEqual(raised.exception.problem.code, "wrong_output")
        self.evaluation.check_direction(
            self.models.load_model(self.model, "cpu"), list(range(1, 40)), "cpu"
        )


if __name__ == "__main__":
    unittest.main()
