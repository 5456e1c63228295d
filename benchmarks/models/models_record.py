"""The rows of the table of record, for transformers 4.52.4."""

from __future__ import annotations

from typing import Any

import torch
from subjects import Edit, Inputs, Make, Subject, not_a_number, overflowing, padded, token_ids, without_broken_weights
from torch import Tensor, nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BioGptConfig,
    BioGptForCausalLM,
    BlenderbotConfig,
    BlenderbotForConditionalGeneration,
    ClapConfig,
    ClapModel,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    LayoutLMv3Config,
    LayoutLMv3Model,
    LongformerConfig,
    LongformerModel,
    MarianConfig,
    MarianMTModel,
    PegasusConfig,
    PegasusForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    ResNetConfig,
    T5Config,
    T5ForConditionalGeneration,
    WhisperConfig,
    WhisperForConditionalGeneration,
)
from transformers.models.t5.modeling_t5 import T5Stack

VOCABULARY = 160
WIDTH = 64
LONGROPE_LIMIT = 32
WINDOW = 8
MELS = 16
SEQ2SEQ = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "max_position_embeddings": 128,
}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}


def seeded(make: type[Any], config: object, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A model of this class with fixed random weights."""
    torch.manual_seed(0)
    model: nn.Module = make(config)
    return without_broken_weights(model).to(dtype).eval()


def encoder_decoder(batch: int, length: int, source: torch.Generator) -> Inputs:
    """Tokens for an encoder, and half as many for a decoder."""
    return {
        "input_ids": token_ids(batch, length, source, VOCABULARY),
        "attention_mask": padded(batch, length),
        "decoder_input_ids": token_ids(batch, length // 2, source, VOCABULARY),
    }


def encoder_decoder_training(batch: int, length: int, source: torch.Generator) -> Inputs:
    """Tokens for an encoder, and labels for a decoder."""
    inputs = encoder_decoder(batch, length, source)
    inputs["labels"] = inputs.pop("decoder_input_ids")
    return inputs


def decoder(batch: int, length: int, source: torch.Generator) -> Inputs:
    """Tokens with padding at the left."""
    return {
        "input_ids": token_ids(batch, length, source, VOCABULARY),
        "attention_mask": padded(batch, length, left=True),
    }


def decoder_training(batch: int, length: int, source: torch.Generator) -> Inputs:
    """The same with labels."""
    inputs = decoder(batch, length, source)
    return {**inputs, "labels": inputs["input_ids"].clone()}


def t5(dtype: torch.dtype) -> Subject:
    """T5 with the feed-forward layers of flan-t5."""
    config = T5Config(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    variants = {"overflow": t5_overflow} if dtype is torch.float16 else {}
    model = seeded(T5ForConditionalGeneration, config, dtype)
    return Subject(model, encoder_decoder, encoder_decoder_training, variants)


def t5_overflow(model: nn.Module, _inputs: Inputs) -> None:
    """Weights whose product leaves the range of half precision in the first feed-forward layer."""
    layer: Any = model.get_submodule("encoder.block.0.layer.1.DenseReluDense")
    layer.wi_1.weight.mul_(1000.0)
    layer.wo.weight.mul_(1000.0)


def whisper(dtype: torch.dtype) -> Subject:
    """Whisper: a spectrogram in, tokens out. The length of its input is fixed."""
    sizes = {key: value for key, value in SEQ2SEQ.items() if key != "max_position_embeddings"}
    config = WhisperConfig(
        **sizes,
        **SPECIAL,
        num_mel_bins=MELS,
        max_source_positions=20,
        max_target_positions=64,
        begin_suppress_tokens=None,
    )

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {
            "input_features": torch.randn(batch, MELS, 40, generator=source).to(dtype),
            "decoder_input_ids": token_ids(batch, length // 2, source, VOCABULARY),
        }

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        made = inputs(batch, length, source)
        made["labels"] = made.pop("decoder_input_ids")
        return made

    variants = {"overflow": overflowing("model.encoder.layers.0.final_layer_norm")} if dtype is torch.float16 else {}
    return Subject(seeded(WhisperForConditionalGeneration, config, dtype), inputs, training, variants)


def half_precision_variants(dtype: torch.dtype) -> dict[str, Any]:
    """Infinities and NaN where an encoder layer clamps in half precision."""
    if dtype is not torch.float16:
        return {}
    norm = "model.encoder.layers.0.final_layer_norm"
    return {"overflow": overflowing(norm), "nan": not_a_number(norm)}


def bart(dtype: torch.dtype) -> Subject:
    """BART."""
    model = seeded(BartForConditionalGeneration, BartConfig(**SEQ2SEQ, **SPECIAL, forced_eos_token_id=None), dtype)
    return Subject(model, encoder_decoder, encoder_decoder_training, half_precision_variants(dtype))


def marian(dtype: torch.dtype) -> Subject:
    """Marian, the architecture of the OPUS translation models."""
    model = seeded(MarianMTModel, MarianConfig(**SEQ2SEQ, **SPECIAL, forced_eos_token_id=None), dtype)
    return Subject(model, encoder_decoder, encoder_decoder_training, half_precision_variants(dtype))


def biogpt() -> Subject:
    """BioGPT."""
    config = BioGptConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=128,
    )
    return Subject(seeded(BioGptForCausalLM, config), decoder, decoder_training)


def blenderbot() -> Subject:
    """Blenderbot."""
    model = seeded(BlenderbotForConditionalGeneration, BlenderbotConfig(**SEQ2SEQ, **SPECIAL))
    return Subject(model, encoder_decoder, encoder_decoder_training)


def pegasus() -> Subject:
    """Pegasus as a decoder only."""
    config = PegasusConfig(**SEQ2SEQ, pad_token_id=0, eos_token_id=2, is_decoder=True, is_encoder_decoder=False)
    return Subject(seeded(PegasusForCausalLM, config), decoder, decoder_training)


def layoutlmv3() -> Subject:
    """LayoutLMv3 with text, boxes and an image."""
    config = LayoutLMv3Config(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=130,
        max_2d_position_embeddings=64,
        coordinate_size=10,
        shape_size=12,
        input_size=32,
        patch_size=16,
        rel_pos_bins=8,
        max_rel_pos=16,
        rel_2d_pos_bins=8,
        max_rel_2d_pos=16,
    )

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {
            "input_ids": token_ids(batch, length, source, VOCABULARY),
            "attention_mask": padded(batch, length),
            "bbox": torch.randint(0, 60, (batch, length, 4), generator=source).sort(-1).values,
            "pixel_values": torch.randn(batch, 3, 32, 32, generator=source),
        }

    return Subject(seeded(LayoutLMv3Model, config), inputs)


def phi3_longrope() -> Subject:
    """Phi-3 with the two sets of rotary frequencies of Phi-4-mini."""
    pairs = 6
    config = Phi3Config(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=128,
        max_position_embeddings=256,
        original_max_position_embeddings=LONGROPE_LIMIT,
        partial_rotary_factor=0.75,
        rope_scaling={"type": "longrope", "short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs},
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )

    def far(_model: nn.Module, inputs: Inputs) -> None:
        """Positions beyond the limit, in a call of the same shape."""
        inputs["position_ids"] += LONGROPE_LIMIT

    def with_positions(make: Any) -> Any:  # noqa: ANN401
        def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
            return {**make(batch, length, source), "position_ids": torch.arange(length).expand(batch, length).clone()}

        return inputs

    model = seeded(Phi3ForCausalLM, config)
    return Subject(model, with_positions(decoder), with_positions(decoder_training), {"far": far})


class Forecaster(nn.Module):
    """A T5 encoder and decoder driven by patches of a series, as chronos-bolt does."""

    PATCH = 4
    HORIZON = 8
    QUANTILES = 3

    def __init__(self, config: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.shared = nn.Embedding(2, config.d_model)
        self.patches = nn.Linear(2 * self.PATCH, config.d_model)
        encoder, decoder = T5Config(**config.to_dict()), T5Config(**config.to_dict())
        encoder.is_encoder_decoder = encoder.use_cache = encoder.is_decoder = False
        decoder.is_decoder, decoder.is_encoder_decoder = True, False
        self.encoder = T5Stack(encoder, self.shared)
        self.decoder = T5Stack(decoder, self.shared)
        self.head = nn.Linear(config.d_model, self.HORIZON * self.QUANTILES)

    def forward(self, context: Tensor) -> Tensor:
        """Quantiles of what follows a series, in which NaN stands for a missing value."""
        known = ~torch.isnan(context)
        values = torch.where(known, context, 0.0)
        count = known.sum(-1, keepdim=True).clamp(min=1)
        location = values.sum(-1, keepdim=True) / count
        scale = ((torch.where(known, values - location, 0.0) ** 2).sum(-1, keepdim=True) / count).sqrt() + 1e-5
        scaled = torch.where(known, (values - location) / scale, 0.0)
        patched = scaled.unfold(-1, self.PATCH, self.PATCH)
        present = known.unfold(-1, self.PATCH, self.PATCH)
        embedded = self.patches(torch.cat([patched, present.to(patched.dtype)], -1))
        mask = present.any(-1).to(embedded.dtype)
        encoded = self.encoder(attention_mask=mask, inputs_embeds=embedded).last_hidden_state
        start = torch.zeros(context.shape[0], 1, dtype=torch.long, device=context.device)
        decoded = self.decoder(
            input_ids=start, encoder_hidden_states=encoded, encoder_attention_mask=mask
        ).last_hidden_state
        quantiles: Tensor = self.head(decoded).view(-1, self.QUANTILES, self.HORIZON)
        return quantiles * scale[..., None] + location[..., None]


def chronos() -> Subject:
    """A forecaster on T5."""
    config = T5Config(vocab_size=2, d_model=WIDTH, d_kv=16, d_ff=128, num_layers=2, num_heads=4)

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        context = torch.randn(batch, 4 * length, generator=source).cumsum(-1)
        context[0, :6] = torch.nan
        return {"context": context}

    return Subject(seeded(Forecaster, config), inputs)


def longformer() -> Subject:
    """Longformer at lengths that are no multiples of its window."""
    config = LongformerConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=140,
        attention_window=WINDOW,
    )

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {
            "input_ids": token_ids(batch, length, source, VOCABULARY),
            "attention_mask": padded(batch, length),
        }

    def attend_globally(_model: nn.Module, inputs: Inputs) -> None:
        inputs["attention_mask"][:, 0] = 2

    shapes = ((2, 13), (3, 21), (4, 37))
    return Subject(seeded(LongformerModel, config), inputs, variants={"global": attend_globally}, shapes=shapes)


def clap() -> Subject:
    """CLAP with fusion: some of the recordings are longer than its window."""
    text = {
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "max_position_embeddings": 130,
        "projection_dim": 32,
    }
    audio = {
        "window_size": 4,
        "num_mel_bins": 16,
        "spec_size": 64,
        "patch_size": 4,
        "patch_stride": [4, 4],
        "hidden_size": WIDTH,
        "projection_dim": 32,
        "depths": [1, 1],
        "num_attention_heads": [2, 2],
        "enable_fusion": True,
        "fusion_type": None,
        "patch_embeds_hidden_size": 32,
        "num_hidden_layers": 2,
        "aff_block_r": 4,
    }
    config = ClapConfig(text_config=text, audio_config=audio, projection_dim=32)

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        longer = torch.zeros(batch, 1, dtype=torch.bool)
        longer[1:] = True
        return {
            "input_ids": token_ids(batch, length, source, VOCABULARY),
            "attention_mask": padded(batch, length),
            "input_features": torch.randn(batch, 4, 250, 16, generator=source),
            "is_longer": longer,
        }

    def all_short(_model: nn.Module, inputs: Inputs) -> None:
        inputs["is_longer"].fill_(False)

    def all_long(_model: nn.Module, inputs: Inputs) -> None:
        inputs["is_longer"].fill_(True)

    # Batch normalisation needs two long recordings to train on.
    shapes = ((3, 16), (4, 24), (5, 40))
    variants: dict[str, Edit] = {"all short": all_short, "all long": all_long}
    return Subject(seeded(ClapModel, config), inputs, variants=variants, shapes=shapes)


def grounding_dino() -> Subject:
    """Grounding DINO: an image, and text whose phrases end with a full stop."""
    text = {
        "vocab_size": 1100,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
    }
    config = GroundingDinoConfig(
        backbone_config=ResNetConfig(
            embedding_size=8,
            hidden_sizes=[8, 16, 32, 64],
            depths=[1, 1, 1, 1],
            out_features=["stage2", "stage3", "stage4"],
        ),
        text_config=text,
        num_queries=12,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        d_model=WIDTH,
        max_text_len=32,
        disable_custom_kernels=True,
    )

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        ids = token_ids(batch, 12, source, 1000, first=200)
        ids[:, 0], ids[:, 4], ids[:, 8], ids[:, -2], ids[:, -1] = 101, 1012, 1012, 1012, 102
        return {
            "pixel_values": torch.randn(batch, 3, 32 + length, 32 + length, generator=source),
            "pixel_mask": torch.ones(batch, 32 + length, 32 + length, dtype=torch.long),
            "input_ids": ids,
            "token_type_ids": torch.zeros_like(ids),
            "attention_mask": torch.ones_like(ids),
        }

    def one_phrase(_model: nn.Module, inputs: Inputs) -> None:
        inputs["input_ids"][0, 4] = 300

    def no_phrase(_model: nn.Module, inputs: Inputs) -> None:
        inputs["input_ids"][:] = 300

    model = seeded(GroundingDinoForObjectDetection, config)
    return Subject(model, inputs, variants={"longer phrase": one_phrase, "no special token": no_phrase})


ROWS: dict[str, Make] = {
    "t5": lambda: t5(torch.float32),
    "t5-fp16": lambda: t5(torch.float16),
    "whisper": lambda: whisper(torch.float32),
    "whisper-fp16": lambda: whisper(torch.float16),
    "bart": lambda: bart(torch.float32),
    "bart-fp16": lambda: bart(torch.float16),
    "marian": lambda: marian(torch.float32),
    "marian-fp16": lambda: marian(torch.float16),
    "biogpt": biogpt,
    "blenderbot": blenderbot,
    "pegasus": pegasus,
    "layoutlmv3": layoutlmv3,
    "phi3-longrope": phi3_longrope,
    "chronos": chronos,
    "longformer": longformer,
    "clap-fused": clap,
    "grounding-dino": grounding_dino,
}
