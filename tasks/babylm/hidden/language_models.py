"""Builds a submitted model from its settings and weights, neither of which is trusted.

Settings select one of the known autoregressive architectures; every option that is not a
plain size must have its default. Weights come from safetensors and only fill parameters.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
)

from mlab_task.problems import Rejected, quoted

MOST_PARAMETERS = 150_000_000
LONGEST_BLOCK = 1024
WEIGHT_TYPES = ("F64", "F32", "F16", "BF16")
ACTIVATIONS = ("gelu", "gelu_new", "relu", "silu", "gelu_pytorch_tanh", "gelu_fast", "relu2")

# Largest allowed value of each size.
SIZES = {
    "vocab_size": 65_536,
    "n_positions": 4096,
    "n_embd": 4096,
    "n_layer": 64,
    "n_head": 128,
    "n_inner": 16_384,
    "max_position_embeddings": 4096,
    "hidden_size": 4096,
    "word_embed_proj_dim": 4096,
    "num_hidden_layers": 64,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "head_dim": 512,
    "intermediate_size": 16_384,
    "ffn_dim": 16_384,
}
SWITCHES = (
    "tie_word_embeddings",
    "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx",
    "attention_bias",
    "mlp_bias",
    "use_parallel_residual",
    "enable_bias",
)
EPSILONS = ("layer_norm_epsilon", "layer_norm_eps", "rms_norm_eps")
# These do not affect what a trained model computes.
WITHOUT_EFFECT = frozenset(
    "model_type architectures dtype torch_dtype transformers_version _name_or_path use_cache"
    " bos_token_id eos_token_id pad_token_id initializer_range init_std attn_pdrop embd_pdrop"
    " resid_pdrop attention_dropout hidden_dropout classifier_dropout dropout layerdrop"
    " summary_activation summary_first_dropout summary_proj_to_labels summary_type"
    " summary_use_proj task_specific_params pretraining_tp is_decoder return_dict"
    " output_attentions output_hidden_states gradient_checkpointing".split()
)


@dataclass(frozen=True)
class Architecture:
    """Classes of transformers, and the option that contains the maximum number of positions."""

    config: type[PretrainedConfig]
    model: type[PreTrainedModel]
    positions: str


ARCHITECTURES = {
    "gpt2": Architecture(GPT2Config, GPT2LMHeadModel, "n_positions"),
    "gpt_neox": Architecture(GPTNeoXConfig, GPTNeoXForCausalLM, "max_position_embeddings"),
    "llama": Architecture(LlamaConfig, LlamaForCausalLM, "max_position_embeddings"),
    "opt": Architecture(OPTConfig, OPTForCausalLM, "max_position_embeddings"),
}
# Names in saved files that differ from those of the parameters.
SAVED_NAMES = {"embed_out.weight": "lm_head.weight"}


@dataclass(frozen=True)
class LanguageModel:
    """A model that is ready for evaluation, and the settings that this requires."""

    model: PreTrainedModel
    vocabulary: int
    block: int
    first_token: int


def load_model(folder: Path, device: str) -> LanguageModel:
    """Reads `config.json` and `model.safetensors`.

    :raises Rejected: not_allowed, out_of_range, unreadable, wrong_shape or not_finite
    """
    settings = read_settings((folder / "config.json").read_bytes())
    architecture = ARCHITECTURES[settings["model_type"]]
    config = make_config(settings, architecture)
    try:
        with torch.device("meta"):
            parameters = sum(p.numel() for p in architecture.model(config).parameters())
    except (ValueError, TypeError, RuntimeError, ZeroDivisionError, KeyError) as error:
        raise refused(f"the model can't be built: {error}") from None
    if parameters > MOST_PARAMETERS:
        message = f"the model has {parameters:,} parameters; {MOST_PARAMETERS:,} are allowed"
        raise Rejected("too_large", message)
    model = architecture.model(config)
    fill(model, folder / "model.safetensors")
    first = settings.get("bos_token_id")
    if type(first) is not int or not 0 <= first < config.vocab_size:
        raise refused("bos_token_id must be in the vocabulary: it is prepended to each text")
    block = min(LONGEST_BLOCK, getattr(config, architecture.positions))
    return LanguageModel(model.eval().to(device), config.vocab_size, block, first)


def read_settings(content: bytes) -> dict[str, Any]:
    """The settings as an object with a known architecture.

    :raises Rejected: unreadable or not_allowed
    """
    try:
        settings = json.loads(content)
    except (ValueError, RecursionError):
        raise Rejected("unreadable", "config.json: not valid JSON") from None
    if not isinstance(settings, dict):
        raise Rejected("unreadable", "config.json: not an object")
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in ARCHITECTURES:
        raise refused(f"model_type must be one of {', '.join(ARCHITECTURES)}")
    return settings


def make_config(settings: Mapping[str, Any], architecture: Architecture) -> PretrainedConfig:
    """Accepts sizes and a few switches; all else must have the default of the architecture.

    :raises Rejected: not_allowed or out_of_range
    """
    defaults = architecture.config().to_dict()
    chosen = {}
    for name, value in settings.items():
        if name in WITHOUT_EFFECT:
            continue
        if name not in defaults:
            raise refused(f"{quoted(name)} is not an option of {settings['model_type']}")
        if not is_same(defaults[name], value):
            check_option(name, value)
        chosen[name] = value
    # Their defaults can be outside a small vocabulary, and no text is generated.
    unused = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))
    try:
        return architecture.config(**chosen, **unused, use_cache=False)
    except Exception as error:
        raise refused(f"transformers rejects it: {error}") from None


def is_same(default: object, value: object) -> bool:
    return type(default) is type(value) and default == value


def check_option(name: str, value: object) -> None:
    """:raises Rejected: not_allowed or out_of_range"""
    if name in SIZES:
        if type(value) is not int or not 1 <= value <= SIZES[name]:
            message = f"config.json: {name} must be an integer from 1 to {SIZES[name]:,}"
            raise Rejected("out_of_range", message)
    elif name in SWITCHES:
        if type(value) is not bool:
            raise refused(f"{name} must be true or false")
    elif name in EPSILONS:
        if type(value) not in (int, float) or not 0 < value <= 1:
            raise refused(f"{name} must be between 0 and 1")
    elif name in ("activation_function", "hidden_act"):
        if not isinstance(value, str) or value not in ACTIVATIONS:
            raise refused(f"{name} must be one of {', '.join(ACTIVATIONS)}")
    elif name == "rope_parameters":
        check_rotation(value)
    else:
        raise refused(f"{quoted(name)} must have its default value")


def check_rotation(value: object) -> None:
    """Rotary position embeddings of the default type: any base, and any fraction of the width."""
    if not isinstance(value, dict):
        raise refused("rope_parameters must be an object")
    for name, entry in value.items():
        if name == "rope_type" and entry == "default":
            continue
        limits = {"rope_theta": (1, 1e8), "partial_rotary_factor": (0.01, 1)}.get(name)
        if limits is None or type(entry) not in (int, float):
            raise refused(f"{quoted(str(name))} in rope_parameters is not allowed")
        if not (math.isfinite(entry) and limits[0] <= entry <= limits[1]):
            raise refused(f"{name} must be between {limits[0]} and {limits[1]:g}")


def fill(model: PreTrainedModel, file: Path) -> None:
    """Copies weights into the parameters: exactly one for each, of the same shape, finite.

    :raises Rejected: unreadable, wrong_shape, not_allowed or not_finite
    """
    parameters = dict(model.named_parameters())
    aliases = dict(model.named_parameters(remove_duplicate=False))
    filled: set[int] = set()
    try:
        with safe_open(str(file), framework="pt") as weights:
            for saved in weights.keys():
                name = SAVED_NAMES.get(saved, saved)
                if name not in aliases:
                    raise wrong_weights(f"{quoted(saved)} is not a parameter of the model")
                part = weights.get_slice(saved)
                if part.get_dtype() not in WEIGHT_TYPES:
                    raise wrong_weights(f"{quoted(saved)} has the type {part.get_dtype()}")
                if list(part.get_shape()) != list(aliases[name].shape):
                    shapes = f"{part.get_shape()} instead of {list(aliases[name].shape)}"
                    raise wrong_weights(f"{quoted(saved)} has the shape {shapes}")
                if id(aliases[name]) in filled:
                    raise wrong_weights(f"{quoted(saved)} is duplicated: the weights are tied")
                tensor = weights.get_tensor(saved).float()
                if not torch.isfinite(tensor).all():
                    raise Rejected(
                        "not_finite", f"model.safetensors: {quoted(saved)} is not finite"
                    )
                aliases[name].data.copy_(tensor)
                filled.add(id(aliases[name]))
    except SafetensorError as error:
        raise Rejected("unreadable", f"model.safetensors: {quoted(str(error), 200)}") from None
    missing = [name for name, value in parameters.items() if id(value) not in filled]
    if missing:
        raise wrong_weights(f"{len(missing)} parameters are missing, such as {quoted(missing[0])}")


def wrong_weights(message: str) -> Rejected:
    return Rejected("wrong_shape", f"model.safetensors: {message}")


def refused(message: str) -> Rejected:
    return Rejected("not_allowed", f"config.json: {message}")
