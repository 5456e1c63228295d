"""The rows of diffusers 0.42.1."""

from __future__ import annotations

from typing import Any

import torch
from diffusers import AsymmetricAutoencoderKL, Lumina2Transformer2DModel, MochiTransformer3DModel
from subjects import Inputs, Make, Subject
from torch import nn

SHAPES = ((2, 16), (3, 16), (4, 32))
"""The third changes the size of the image."""
CAPTION = 8


def seeded(make: type[Any], **config: object) -> nn.Module:
    """A model of this class with fixed random weights."""
    torch.manual_seed(0)
    model: nn.Module = make(**config)
    return model.eval()


def timesteps(batch: int) -> torch.Tensor:
    """A different step of the noise for each image."""
    return torch.arange(batch) + 10.0


def shorter_caption(_model: nn.Module, inputs: Inputs) -> None:
    """Mask the end of the first caption."""
    inputs["encoder_attention_mask"][0, CAPTION // 2 :] = False


def asymmetric_autoencoder() -> Subject:
    """An autoencoder that is given the part of the image to fill in."""
    model = seeded(
        AsymmetricAutoencoderKL,
        down_block_types=("DownEncoderBlock2D",) * 2,
        down_block_out_channels=(32, 64),
        layers_per_down_block=1,
        up_block_types=("UpDecoderBlock2D",) * 2,
        up_block_out_channels=(32, 64),
        layers_per_up_block=1,
    )

    def inputs(batch: int, edge: int, source: torch.Generator) -> Inputs:
        return {
            "sample": torch.randn(batch, 3, 2 * edge, 2 * edge, generator=source),
            "mask": (torch.rand(batch, 1, 2 * edge, 2 * edge, generator=source) > 0.5).float(),
        }

    return Subject(model, inputs, shapes=SHAPES)


def mochi() -> Subject:
    """The transformer of Mochi, for video."""
    model = seeded(
        MochiTransformer3DModel,
        patch_size=2,
        num_attention_heads=2,
        attention_head_dim=8,
        num_layers=2,
        pooled_projection_dim=16,
        in_channels=4,
        text_embed_dim=16,
        time_embed_dim=4,
        max_sequence_length=16,
    )

    def inputs(batch: int, edge: int, source: torch.Generator) -> Inputs:
        return {
            "hidden_states": torch.randn(batch, 4, 2, edge, edge, generator=source),
            "encoder_hidden_states": torch.randn(batch, 16, 16, generator=source),
            "timestep": timesteps(batch),
            "encoder_attention_mask": torch.ones(batch, 16, dtype=torch.bool),
        }

    return Subject(model, inputs, variants={"shorter caption": shorter_caption}, shapes=SHAPES)


def lumina2() -> Subject:
    """The transformer of Lumina 2."""
    model = seeded(
        Lumina2Transformer2DModel,
        sample_size=16,
        patch_size=2,
        in_channels=4,
        hidden_size=24,
        num_layers=2,
        num_refiner_layers=1,
        num_attention_heads=3,
        num_kv_heads=1,
        multiple_of=2,
        ffn_dim_multiplier=None,
        axes_dim_rope=(4, 2, 2),
        cap_feat_dim=8,
    )

    def inputs(batch: int, edge: int, source: torch.Generator) -> Inputs:
        return {
            "hidden_states": torch.randn(batch, 4, edge, edge, generator=source),
            "timestep": torch.rand(batch, generator=source),
            "encoder_hidden_states": torch.randn(batch, CAPTION, 8, generator=source),
            "encoder_attention_mask": torch.ones(batch, CAPTION, dtype=torch.bool),
        }

    return Subject(model, inputs, variants={"shorter caption": shorter_caption}, shapes=SHAPES)


ROWS: dict[str, Make] = {
    "asymmetric-autoencoder": asymmetric_autoencoder,
    "mochi": mochi,
    "lumina2": lumina2,
}
