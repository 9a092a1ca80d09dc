"""What a model carries on top, by the class that its config.json names."""

from __future__ import annotations

from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import linear

_LANGUAGE = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForPreTraining", "CausalLM")
_CLASSIFIERS = ("ForSequenceClassification", "ForTokenClassification", "ForImageClassification", "RewardModel")


def architecture(keys: Keys) -> str:
    """The first class under `architectures`, or "" where there is none.

    Raises
    ------
    InputError
        `architectures` is no list of names.
    """
    names = keys.data.get("architectures")
    if names is None:
        return ""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise keys.wrong("architectures", "a list of class names")
    return names[0] if names else ""


def task(keys: Keys) -> str:
    """What the class is for, such as `ForMaskedLM`; "" for the bare model or where no class is named."""
    name = architecture(keys)
    start = name.find("For")
    if start > 0:
        return name[start:]
    return "ForCausalLM" if name.endswith(_LANGUAGE) else ""


def causal_head(keys: Keys, width: int, vocab: int, *, tied: bool, bias: bool = False) -> int:
    """Parameters of a decoder's head besides a tied matrix; onto the vocabulary unless the class says otherwise."""
    name = architecture(keys)
    if name.endswith(_CLASSIFIERS):
        outputs = keys.labels()
        return linear(width, outputs, "TokenClassification" in name)
    if name.endswith("ForQuestionAnswering"):
        return linear(width, 2, True)
    if name.endswith("Model") and not name.endswith(_LANGUAGE):
        return 0
    return (0 if tied else width * vocab) + (vocab if bias else 0)
