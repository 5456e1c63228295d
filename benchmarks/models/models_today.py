"""The rows of transformers 5.24.0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from subjects import (
    Edit,
    Inputs,
    Make,
    Subject,
    not_a_number,
    overflowing,
    padded,
    token_ids,
    without_broken_weights,
)
from torch import nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BioGptConfig,
    BioGptForCausalLM,
    CLIPVisionConfig,
    CTRLConfig,
    CTRLLMHeadModel,
    DeformableDetrConfig,
    DeformableDetrForObjectDetection,
    DetrConfig,
    DetrForObjectDetection,
    EncodecConfig,
    EncodecModel,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    HubertConfig,
    HubertForCTC,
    IBertConfig,
    IBertForMaskedLM,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    LEDConfig,
    LEDForConditionalGeneration,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LongformerConfig,
    LongformerModel,
    MarianConfig,
    MarianMTModel,
    Mistral3Config,
    Mistral3ForConditionalGeneration,
    MoonshineConfig,
    MoonshineForConditionalGeneration,
    MusicgenForCausalLM,
    Ovis2Config,
    Ovis2ForConditionalGeneration,
    ProphetNetConfig,
    ProphetNetForConditionalGeneration,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    ResNetConfig,
    SeamlessM4TConfig,
    SeamlessM4TForTextToText,
    SeamlessM4Tv2Config,
    SeamlessM4Tv2ForTextToText,
    SEWConfig,
    SEWForCTC,
    UniSpeechConfig,
    UniSpeechForCTC,
    Wav2Vec2BertConfig,
    Wav2Vec2BertForSequenceClassification,
    Wav2Vec2Config,
    Wav2Vec2ConformerConfig,
    Wav2Vec2ConformerForSequenceClassification,
    Wav2Vec2ForCTC,
    WavLMConfig,
    WavLMForCTC,
)
from transformers.models.musicgen.configuration_musicgen import MusicgenDecoderConfig

VOCABULARY = 160
WIDTH = 64
WINDOW = 8
SAMPLES_PER_FRAME = 400
IMAGE_TOKEN = 5
IMAGE_TOKENS = 4
"""How many a row has for its image."""
DROPPED = 0.5
"""A rate at which three seeds see layers dropped and kept."""
SEQ2SEQ = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
TEXT = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
WORDS = {**TEXT, "num_key_value_heads": 2, "max_position_embeddings": 128}
SEEING = {"hidden_size": WIDTH, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}


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


def text(batch: int, length: int, source: torch.Generator) -> Inputs:
    """Tokens with padding at the right."""
    return {
        "input_ids": token_ids(batch, length, source, VOCABULARY),
        "attention_mask": padded(batch, length),
    }


def text_training(batch: int, length: int, source: torch.Generator) -> Inputs:
    """The same with labels."""
    inputs = text(batch, length, source)
    return {**inputs, "labels": inputs["input_ids"].clone()}


def half_precision(make: type[Any], config: object) -> Subject:
    """An encoder and decoder in half precision, with infinities and NaN where the encoder clamps."""
    norm = "model.encoder.layers.0.final_layer_norm"
    variants: dict[str, Edit] = {"overflow": overflowing(norm), "nan": not_a_number(norm)}
    return Subject(seeded(make, config, torch.float16), encoder_decoder, encoder_decoder_training, variants)


def backbone(*stages: int) -> ResNetConfig:
    """A small ResNet that gives these stages."""
    return ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 32, 64],
        depths=[1, 1, 1, 1],
        out_features=[f"stage{stage}" for stage in stages],
    )


def detector(make: type[Any], config: object) -> Subject:
    """The training step of a detector."""

    def image(batch: int, length: int, source: torch.Generator) -> Inputs:
        edge = 32 + 2 * length
        boxes = [torch.rand(2, 4, generator=source) * 0.5 + 0.2 for _ in range(batch)]
        return {
            "pixel_values": torch.randn(batch, 3, edge, edge, generator=source),
            "pixel_mask": torch.ones(batch, edge, edge, dtype=torch.long),
            "labels": [{"class_labels": torch.tensor([0, 1]), "boxes": each} for each in boxes],
        }

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {name: value for name, value in image(batch, length, source).items() if name != "labels"}

    def broken_boxes(_model: nn.Module, inputs: Inputs) -> None:
        for label in inputs.get("labels", []):
            label["boxes"][0, 2:] = -1.0

    encoder: Any = "model.encoder.layers.0.final_layer_norm"
    variants: dict[str, Edit] = {
        "overflow": overflowing(encoder),
        "nan": not_a_number(encoder),
        "broken boxes": broken_boxes,
    }
    return Subject(seeded(make, config), inputs, image, variants)


def detr() -> Subject:
    """DETR."""
    sizes = {name: value for name, value in SEQ2SEQ.items() if name != "vocab_size"}
    return detector(
        DetrForObjectDetection,
        DetrConfig(**sizes, num_queries=12, num_labels=4, backbone_config=backbone(4), use_timm_backbone=False),
    )


def deformable_detr() -> Subject:
    """Deformable DETR."""
    sizes = {name: value for name, value in SEQ2SEQ.items() if name != "vocab_size"}
    config = DeformableDetrConfig(
        **sizes, num_queries=12, num_labels=4, backbone_config=backbone(2, 3, 4), use_timm_backbone=False
    )
    return detector(DeformableDetrForObjectDetection, config)


def encodec() -> Subject:
    """EnCodec; the short sound is shorter than the padding of a convolution."""
    config = EncodecConfig(
        hidden_size=16, num_filters=4, codebook_size=32, codebook_dim=16, upsampling_ratios=[8, 5, 4, 2]
    )

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {"input_values": torch.randn(batch, 1, 1920 * (length // 8), generator=source)}

    def short(_model: nn.Module, inputs: Inputs) -> None:
        inputs["input_values"] = inputs["input_values"][..., :3].clone()

    return Subject(seeded(EncodecModel, config), inputs, variants={"short": short})


def ibert() -> Subject:
    """I-BERT with quantised arithmetic."""
    config = IBertConfig(**TEXT, max_position_embeddings=64, quant_mode=True)
    variants = {"nan": not_a_number("ibert.embeddings.LayerNorm")}
    return Subject(seeded(IBertForMaskedLM, config), text, text_training, variants)


def speech(make: type[Any], config: object) -> Subject:
    """A recogniser of speech with CTC loss."""

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        samples = SAMPLES_PER_FRAME * length
        mask = torch.ones(batch, samples, dtype=torch.long)
        mask[0, -2 * SAMPLES_PER_FRAME :] = 0
        return {"input_values": torch.randn(batch, samples, generator=source), "attention_mask": mask}

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        labels = torch.randint(1, 20, (batch, 4), generator=source)
        labels[0, -1] = -100
        return {**inputs(batch, length, source), "labels": labels}

    def label_too_large(_model: nn.Module, inputs: Inputs) -> None:
        if "labels" in inputs:
            inputs["labels"][-1, 0] = 10_000

    return Subject(seeded(make, config), inputs, training, {"label too large": label_too_large})


SPEECH = {
    **TEXT,
    "vocab_size": 32,
    "conv_dim": [32] * 7,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
    "layerdrop": DROPPED,
}
CODEBOOKS = {"num_codevectors_per_group": 8, "codevector_dim": 16, "proj_codevector_dim": 16}


def speech_config(make: type[Any]) -> object:
    """Small sizes for a wav2vec2 architecture."""
    return make(**SPEECH, **CODEBOOKS)


def sound_classifier(make: type[Any], config: object, size: int = 0) -> Subject:
    """The training step of a classifier of sounds. size: of each frame of its input; 0 where it takes samples."""

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        steps = 4 * length if size else SAMPLES_PER_FRAME * length
        sound = torch.randn(batch, steps, *[size] * bool(size), generator=source)
        mask = torch.ones(batch, steps, dtype=torch.long)
        mask[0, -steps // 8 :] = 0
        labels = torch.randint(0, 2, (batch,), generator=source)
        return {"input_features" if size else "input_values": sound, "attention_mask": mask, "labels": labels}

    def unpadded(_model: nn.Module, inputs: Inputs) -> None:
        inputs["attention_mask"].fill_(1)

    return Subject(seeded(make, config), None, training, {"unpadded": unpadded})


def wav2vec2_bert() -> Subject:
    """The training step of Wav2Vec2-BERT, whose input is a spectrogram."""
    config = Wav2Vec2BertConfig(
        **{**TEXT, "vocab_size": 32},
        feature_projection_input_dim=32,
        classifier_proj_size=32,
        conv_depthwise_kernel_size=7,
        layerdrop=DROPPED,
    )
    return sound_classifier(Wav2Vec2BertForSequenceClassification, config, 32)


def wav2vec2_conformer() -> Subject:
    """The training step of Wav2Vec2-Conformer."""
    config = Wav2Vec2ConformerConfig(**SPEECH, **CODEBOOKS, classifier_proj_size=32, conv_depthwise_kernel_size=7)
    return sound_classifier(Wav2Vec2ConformerForSequenceClassification, config)


def seamless(make: type[Any], config: type[Any]) -> Subject:
    """The training step of a SeamlessM4T from text to text, with layers dropped."""
    sizes = {name: value for name, value in SEQ2SEQ.items() if name != "d_model"}
    dropped = {"encoder_layerdrop": DROPPED, "decoder_layerdrop": DROPPED}
    made = config(**sizes, **SPECIAL, **dropped, hidden_size=WIDTH, max_position_embeddings=128)
    return Subject(seeded(make, made), None, encoder_decoder_training)


def prophetnet() -> Subject:
    """ProphetNet; a label below zero is an error."""
    config = ProphetNetConfig(
        **SPECIAL,
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
        max_position_embeddings=128,
    )

    def ignored(_model: nn.Module, inputs: Inputs) -> None:
        if "labels" in inputs:
            inputs["labels"][0, -2:] = -100

    def negative(_model: nn.Module, inputs: Inputs) -> None:
        if "labels" in inputs:
            inputs["labels"][0, 1] = -1

    variants: dict[str, Edit] = {"ignored labels": ignored, "negative label": negative}
    return Subject(seeded(ProphetNetForConditionalGeneration, config), None, encoder_decoder_training, variants)


def attend_globally(_model: nn.Module, inputs: Inputs) -> None:
    """Let every first token see all, and be seen."""
    inputs["global_attention_mask"] = torch.zeros_like(inputs["input_ids"])
    inputs["global_attention_mask"][:, 0] = 1


def longformer() -> Subject:
    """Longformer at lengths that are no multiples of its window."""
    config = LongformerConfig(**TEXT, max_position_embeddings=140, attention_window=WINDOW)
    shapes = ((2, 13), (3, 21), (4, 37))
    model = seeded(LongformerModel, config)
    return Subject(model, text, variants={"global": attend_globally}, shapes=shapes)


def led() -> Subject:
    """LED at lengths that are no multiples of its window."""
    config = LEDConfig(
        **SEQ2SEQ,
        **SPECIAL,
        attention_window=WINDOW,
        max_encoder_position_embeddings=128,
        max_decoder_position_embeddings=64,
    )
    shapes = ((2, 13), (3, 21), (4, 37))
    model = seeded(LEDForConditionalGeneration, config)
    return Subject(model, encoder_decoder, encoder_decoder_training, {"global": attend_globally}, shapes)


def ctrl() -> Subject:
    """CTRL."""
    config = CTRLConfig(vocab_size=VOCABULARY, n_positions=128, n_embd=WIDTH, dff=128, n_layer=2, n_head=4)
    return Subject(seeded(CTRLLMHeadModel, config), text, text_training)


def moonshine() -> Subject:
    """Moonshine: a sound in, tokens out."""
    config = MoonshineConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=128,
        encoder_num_hidden_layers=2,
        decoder_num_hidden_layers=2,
        encoder_num_attention_heads=4,
        decoder_num_attention_heads=4,
        max_position_embeddings=128,
        pad_token_id=0,
    )

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {
            "input_values": torch.randn(batch, 1000 * length, generator=source),
            "attention_mask": torch.ones(batch, 1000 * length, dtype=torch.long),
            "decoder_input_ids": token_ids(batch, length // 2, source, VOCABULARY),
        }

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        made = inputs(batch, length, source)
        made["labels"] = made.pop("decoder_input_ids")
        return made

    return Subject(seeded(MoonshineForConditionalGeneration, config), inputs, training)


Pictures = Callable[[int, torch.Generator], Inputs]
"""Arguments that hold an image for each row of a batch."""


def square(edge: int) -> Pictures:
    """Square images."""
    return lambda batch, source: {"pixel_values": torch.randn(batch, 3, edge, edge, generator=source)}


def with_image(
    model: nn.Module, pictures: Pictures, *, types: str = "", variants: Mapping[str, Edit] | None = None
) -> Subject:
    """A language model that is shown one image in each row. types: the argument that says what is an image."""

    def inputs(batch: int, length: int, source: torch.Generator) -> Inputs:
        ids = token_ids(batch, length + IMAGE_TOKENS, source, VOCABULARY)
        ids[:, 2 : 2 + IMAGE_TOKENS] = IMAGE_TOKEN
        made = {"input_ids": ids, "attention_mask": torch.ones_like(ids), **pictures(batch, source)}
        return {**made, types: (ids == IMAGE_TOKEN).long()} if types else made

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        made = inputs(batch, length, source)
        return {**made, "labels": made["input_ids"].clone()}

    def too_few_tokens(_model: nn.Module, inputs: Inputs) -> None:
        inputs["input_ids"][0, 2] = VOCABULARY - 1

    return Subject(model, inputs, training, {"too few image tokens": too_few_tokens, **(variants or {})})


def llava() -> Subject:
    """LLaVA."""
    vision = CLIPVisionConfig(**SEEING, image_size=28, patch_size=14, projection_dim=32)
    words = LlamaConfig(**WORDS)
    config = LlavaConfig(
        vision_config=vision, text_config=words, image_token_index=IMAGE_TOKEN, image_seq_length=IMAGE_TOKENS
    )
    return with_image(seeded(LlavaForConditionalGeneration, config), square(28))


def gemma3() -> Subject:
    """Gemma 3."""
    config = Gemma3Config(
        text_config={**WORDS, "head_dim": 16, "sliding_window": 8},
        vision_config={**SEEING, "model_type": "siglip_vision_model", "image_size": 64, "patch_size": 16},
        mm_tokens_per_image=IMAGE_TOKENS,
        image_token_index=IMAGE_TOKEN,
        boi_token_index=6,
        eoi_token_index=7,
    )
    return with_image(seeded(Gemma3ForConditionalGeneration, config), square(64), types="token_type_ids")


def ovis2() -> Subject:
    """Ovis 2; an image may have tokens around it that begin and end it."""
    first = IMAGE_TOKEN + 1
    config = Ovis2Config(
        text_config={"model_type": "qwen2", **WORDS},
        vision_config={**SEEING, "image_size": 28, "patch_size": 14, "vocab_size": 32},
        image_token_id=IMAGE_TOKEN,
        visual_indicator_token_ids=list(range(first, first + 5)),
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
    )

    def indicators(_model: nn.Module, inputs: Inputs) -> None:
        inputs["input_ids"][0, 1] = first
        inputs["input_ids"][0, 6] = first + 1

    model = seeded(Ovis2ForConditionalGeneration, config)
    return with_image(model, square(28), variants={"indicators": indicators})


def idefics3() -> Subject:
    """Idefics 3: where a row has fewer images than another, black ones fill it up."""
    config = Idefics3Config(
        text_config={"model_type": "llama", **WORDS},
        vision_config={**SEEING, "image_size": 32, "patch_size": 8},
        image_token_id=IMAGE_TOKEN,
        pad_token_id=0,
    )

    def pictures(batch: int, source: torch.Generator) -> Inputs:
        first = square(32)(batch, source)["pixel_values"]
        return {"pixel_values": torch.stack([first, torch.zeros_like(first)], dim=1)}

    def second_image(_model: nn.Module, inputs: Inputs) -> None:
        inputs["pixel_values"][0, 1] = inputs["pixel_values"][1, 0]
        inputs["input_ids"][0, 8 : 8 + IMAGE_TOKENS] = IMAGE_TOKEN

    model = seeded(Idefics3ForConditionalGeneration, config)
    return with_image(model, pictures, variants={"second image": second_image})


def mistral3() -> Subject:
    """Mistral 3; an image may be smaller than the tensor that holds it."""
    config = Mistral3Config(
        text_config={"model_type": "mistral", **WORDS, "head_dim": 16},
        vision_config={"model_type": "pixtral", **SEEING, "head_dim": 16, "image_size": 56, "patch_size": 14},
        image_token_index=IMAGE_TOKEN,
    )

    def pictures(batch: int, source: torch.Generator) -> Inputs:
        return {**square(56)(batch, source), "image_sizes": torch.tensor([[56, 56]] * batch)}

    def half(_model: nn.Module, inputs: Inputs) -> None:
        inputs["image_sizes"][0, 0] = 28
        inputs["input_ids"][0, 2 : 2 + IMAGE_TOKENS // 2] = VOCABULARY - 1

    model = seeded(Mistral3ForConditionalGeneration, config)
    return with_image(model, pictures, variants={"half an image": half})


def qwen_vl(make: type[Any], config: type[Any], **vision: Any) -> Subject:  # noqa: ANN401
    """A Qwen, which takes the patches of images of any size, and how many each has in height and width."""
    edge = vision["patch_size"]
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
    made = config(
        text_config={**WORDS, "head_dim": 16, "rope_parameters": rope, "bos_token_id": 1, "eos_token_id": 2},
        vision_config={
            **{"depth": 2, "num_heads": 4, "hidden_size": WIDTH, "intermediate_size": 128, "out_hidden_size": WIDTH},
            **vision,
        },
        image_token_id=IMAGE_TOKEN,
        video_token_id=IMAGE_TOKEN + 1,
        vision_start_token_id=IMAGE_TOKEN + 2,
        vision_end_token_id=IMAGE_TOKEN + 3,
    )

    def pictures(batch: int, source: torch.Generator) -> Inputs:
        # Four patches become one token, and a patch holds two frames of three colours.
        pixels = torch.randn(batch * 4 * IMAGE_TOKENS, 3 * 2 * edge * edge, generator=source)
        return {"pixel_values": pixels, "image_grid_thw": torch.tensor([[1, 4, 4]] * batch)}

    def wide(_model: nn.Module, inputs: Inputs) -> None:
        inputs["image_grid_thw"][0] = torch.tensor([1, 2, 8])

    def padding(_model: nn.Module, inputs: Inputs) -> None:
        inputs["attention_mask"][0, -3:] = 0

    variants: dict[str, Edit] = {"wide image": wide, "padding": padding}
    return with_image(seeded(make, made), pictures, types="mm_token_type_ids", variants=variants)


def musicgen() -> Subject:
    """The training step of MusicGen's decoder with layers dropped."""
    books = 4
    config = MusicgenDecoderConfig(
        vocab_size=VOCABULARY,
        max_position_embeddings=128,
        num_hidden_layers=2,
        ffn_dim=128,
        num_attention_heads=4,
        layerdrop=DROPPED,
        hidden_size=WIDTH,
        num_codebooks=books,
        pad_token_id=VOCABULARY,
        bos_token_id=VOCABULARY,
    )

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        return {
            "input_ids": token_ids(batch * books, length, source, VOCABULARY),
            "attention_mask": padded(batch, length),
            "labels": torch.randint(20, VOCABULARY, (batch, length, books), generator=source),
        }

    return Subject(seeded(MusicgenForCausalLM, config), None, training)


def biogpt() -> Subject:
    """The training step of BioGPT with layers dropped."""
    config = BioGptConfig(**TEXT, max_position_embeddings=128, layerdrop=DROPPED)
    return Subject(seeded(BioGptForCausalLM, config), None, text_training)


ROWS: dict[str, Make] = {
    "bart-fp16": lambda: half_precision(
        BartForConditionalGeneration, BartConfig(**SEQ2SEQ, **SPECIAL, max_position_embeddings=128)
    ),
    "marian-fp16": lambda: half_precision(
        MarianMTModel, MarianConfig(**SEQ2SEQ, **SPECIAL, max_position_embeddings=128)
    ),
    "detr": detr,
    "deformable-detr": deformable_detr,
    "encodec": encodec,
    "ibert": ibert,
    "wav2vec2": lambda: speech(Wav2Vec2ForCTC, speech_config(Wav2Vec2Config)),
    "wavlm": lambda: speech(WavLMForCTC, speech_config(WavLMConfig)),
    "hubert": lambda: speech(HubertForCTC, HubertConfig(**SPEECH)),
    "sew": lambda: speech(SEWForCTC, SEWConfig(**{**SPEECH, "conv_dim": [32] * 13})),
    "unispeech": lambda: speech(UniSpeechForCTC, speech_config(UniSpeechConfig)),
    "wav2vec2-bert": wav2vec2_bert,
    "wav2vec2-conformer": wav2vec2_conformer,
    "seamless-m4t": lambda: seamless(SeamlessM4TForTextToText, SeamlessM4TConfig),
    "seamless-m4t-v2": lambda: seamless(SeamlessM4Tv2ForTextToText, SeamlessM4Tv2Config),
    "prophetnet": prophetnet,
    "longformer": longformer,
    "led": led,
    "ctrl": ctrl,
    "moonshine": moonshine,
    "llava": llava,
    "gemma3": gemma3,
    "ovis2": ovis2,
    "idefics3": idefics3,
    "mistral3": mistral3,
    "qwen2.5-vl": lambda: qwen_vl(
        Qwen2_5_VLForConditionalGeneration, Qwen2_5_VLConfig, patch_size=4, window_size=16, fullatt_block_indexes=[1]
    ),
    "qwen3-vl": lambda: qwen_vl(
        Qwen3VLForConditionalGeneration,
        Qwen3VLConfig,
        patch_size=4,
        num_position_embeddings=16,
        deepstack_visual_indexes=[],
    ),
    "musicgen-layerdrop": musicgen,
    "biogpt-layerdrop": biogpt,
}
