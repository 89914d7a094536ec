"""What people write about columns and classes in one text, as in ``zip=category,age=number`` or ``yes=5,no=1``."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from gradus._tables.labels import encode_target, plain_label
from gradus.errors import SettingsError

__all__ = ["named_order", "named_weights", "pairs_in"]

WEIGHTS = "balanced, or each label with its weight, as in yes=5,no=1"
ORDER_WORDS = ("self-paced", "auto", "entropy", "random", "none")


def pairs_in(texts: Sequence[str] | None, option: str, wanted: str) -> dict[str, str]:
    """Split pairs of a name and a value, separated by commas or one by one."""
    pairs = {}
    for pair in chain.from_iterable(csv.reader(texts or (), skipinitialspace=True)):
        name, _, said = pair.rpartition("=")
        if not (name and said):
            raise SettingsError(f"{option} has {pair!r}; write {wanted}.")
        pairs[name.strip()] = said.strip()
    return pairs


def named_weights(text: str | None, targets: Mapping[str, Any]) -> Any:
    """Return the weights of classes: a word, or numbers by label, for every target that has all of these labels."""
    if text is None or text == "balanced":
        return text
    weights: dict[str, float] = {}
    for label, number in pairs_in([text], "--class-weight", WEIGHTS).items():
        try:
            weights[label] = float(number)
        except ValueError as error:
            raise SettingsError(f"--class-weight has {label}={number!s:.40}; write {WEIGHTS}.") from error
    found = {}
    for name, labels in targets.items():
        classes = {str(plain_label(label)): plain_label(label) for label in encode_target(labels, name)[1]}
        if classes.keys() >= weights.keys():
            found[name] = {classes[label]: weight for label, weight in weights.items()}
    if not found:
        raise SettingsError(
            f"--class-weight names {next(iter(weights))!r}; no target has all of the labels {', '.join(weights)}."
        )
    return found if len(targets) > 1 else next(iter(found.values()))


def named_order(text: str, targets: Mapping[str, Any]) -> Any:
    """Return the order in which targets are taught: a word, or the numbers of targets that are named."""
    if text in ORDER_WORDS and text not in targets:
        return None if text == "none" else text
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    unknown = [name for name in names if name not in targets]
    if unknown or not names:
        words = ", ".join(ORDER_WORDS)
        raise SettingsError(f"--order has {(unknown or [text])[0]!r}, which is neither a target nor one of {words}.")
    return [list(targets).index(name) for name in names]
