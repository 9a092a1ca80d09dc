"""BERT-large and ResNet-50 as transformers and torchvision define them, with random weights: nothing is downloaded."""

from __future__ import annotations

from typing import Any

from planner.measure.devices import Device
from planner.measure.results import Shape
from planner.measure.subjects import Built, Configuration, Subject, random_tokens

BERT_PARAMETERS, RESNET_PARAMETERS = 334_094_338, 25_557_032
_SEQ_LEN, _VOCAB, _CLASSES, _SIDE = 384, 30522, 1000, 224


class NotInstalledError(Exception):
    """A library that defines a model isn't there, or can't be loaded; says what to do."""


def bert_subject(torch: Any) -> Subject:
    """BERT-large fine-tuned on SQuAD: 384 tokens, start and end of the answer.

    Raises
    ------
    NotInstalledError
        Without transformers.
    """
    transformers = _transformers("bert-large")

    def build(torch: Any, device: Device, configuration: Configuration) -> Built:
        config = transformers.BertConfig(
            vocab_size=_VOCAB, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
        )
        model = transformers.BertForQuestionAnswering(config).to(device.torch_name).train()
        if configuration.checkpointing == "full":
            model.gradient_checkpointing_enable()
        ids = random_tokens(torch, device, configuration.batch, _SEQ_LEN, _VOCAB)
        starts, ends = (random_tokens(torch, device, configuration.batch, 1, _SEQ_LEN)[:, 0] for _ in range(2))

        def loss() -> Any:
            return model(input_ids=ids, start_positions=starts, end_positions=ends).loss

        return Built(loss=loss, model=model)

    shape = Shape(
        workload="bert-large",
        model="BERT-large-SQuAD-finetune",
        parameters=BERT_PARAMETERS,
        unit="samples",
        input=f"seq{_SEQ_LEN}",
        seq_len=_SEQ_LEN,
        gmacs=123.2,
    )
    return Subject(
        shape=shape,
        framework=f"planner measure (PyTorch {torch.__version__}, transformers {transformers.__version__})",
        optimizer="adamw",
        checkpointings=("none", "full"),
        build=build,
    )


def resnet_subject(torch: Any) -> Subject:
    """ResNet-50 v1.5 on 224 x 224 images, by torchvision where it is there, else by transformers.

    Raises
    ------
    NotInstalledError
        Without either.
    """
    try:
        import torchvision

        name = f"torchvision {torchvision.__version__}"

        def new() -> Any:
            return torchvision.models.resnet50(weights=None)
    except (ImportError, RuntimeError, OSError):  # one that doesn't fit this torch fails in many ways
        transformers = _transformers("resnet-50")
        name = f"transformers {transformers.__version__}"

        def new() -> Any:
            return transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=_CLASSES))

    def build(torch: Any, device: Device, configuration: Configuration) -> Built:
        model = new().to(device.torch_name, memory_format=torch.channels_last).train()
        images = torch.randn(configuration.batch, 3, _SIDE, _SIDE, device=device.torch_name)
        images = images.to(memory_format=torch.channels_last)
        labels = random_tokens(torch, device, configuration.batch, 1, _CLASSES)[:, 0]

        def loss() -> Any:
            found = model(images)
            return torch.nn.functional.cross_entropy(getattr(found, "logits", found), labels)

        return Built(loss=loss, model=model)

    shape = Shape(
        workload="resnet-50",
        model="ResNet50-v1.5",
        parameters=RESNET_PARAMETERS,
        unit="samples",
        input=f"3x{_SIDE}x{_SIDE}",
        gmacs=4.11,
    )
    return Subject(
        shape=shape,
        framework=f"planner measure (PyTorch {torch.__version__}, {name})",
        optimizer="sgd",
        checkpointings=("none",),  # neither library recomputes convolutions
        build=build,
    )


def _transformers(workload: str) -> Any:
    try:
        import transformers

        transformers.BertForQuestionAnswering  # noqa: B018 - its parts are loaded when they are named
    except Exception as error:  # with a torch it doesn't know, anything may be raised
        reason = "isn't installed" if isinstance(error, ModuleNotFoundError) else f"can't be loaded ({error})"
        raise NotInstalledError(f"{workload} needs transformers, which {reason}: pip install transformers") from None
    return transformers
