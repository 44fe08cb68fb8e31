"""Brackets of both scripts: which closes which, and what is left when the lonely ones go."""

from __future__ import annotations

from types import MappingProxyType

BRACKETS = MappingProxyType(
    {")": "(", "]": "[", "}": "{", "）": "（", "］": "［", "】": "【", "』": "『", "」": "「", "〕": "〔", "》": "《"}
)
"""Each closing bracket with the one that opens it."""
_OPENING = frozenset(BRACKETS.values())


def balance_brackets(text: str) -> str:
    """Return the text without the brackets that open or close nothing."""
    open_at: list[int] = []
    lost: set[int] = set()
    for index, letter in enumerate(text):
        if letter in _OPENING:
            open_at.append(index)
        elif letter in BRACKETS:
            if open_at and text[open_at[-1]] == BRACKETS[letter]:
                open_at.pop()
            else:
                lost.add(index)
    lost.update(open_at)
    return "".join(letter for index, letter in enumerate(text) if index not in lost)


def is_balanced(text: str) -> bool:
    """Tell whether every bracket has its other half, in order."""
    return balance_brackets(text) == text
