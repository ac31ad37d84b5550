"""The lineage of todos as a tree: what came of what, each todo once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from loopx_kernel.domain.records import Todo

_BRANCHES = (("├ ", "└ ", "│ ", "  "), ("|-", "`-", "| ", "  "))


class Branch(NamedTuple):
    """One todo of the tree: its id, what is drawn before it, and the todos it comes from besides
    the one above it."""

    id: str
    prefix: str
    also: tuple[str, ...]


def tree(todos: Mapping[str, Todo], *, ascii_only: bool = False) -> list[Branch]:
    """Every todo that came of another, or of which another came; the oldest root first.

    One that left the state stands in the tree by its id. A todo with several origins stands
    below the first of them.
    """
    parents = _parents(todos)
    children: dict[str, list[str]] = {}
    for ref, origins in parents.items():
        children.setdefault(origins[0], []).append(ref)
    roots = sorted(children.keys() - parents.keys(), key=_number)
    return [one for root in roots for one in _below(root, children, parents, ascii_only)]


def _parents(todos: Mapping[str, Todo]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for todo in todos.values():
        found.setdefault(todo.id, []).extend(todo.lineage_todo_ids)
        if todo.superseded_by is not None:
            found.setdefault(todo.superseded_by, []).append(todo.id)
    unique = {ref: tuple(dict.fromkeys(one for one in refs if one != ref)) for ref, refs in
              found.items()}  # fmt: skip
    return {ref: refs for ref, refs in unique.items() if refs}


def _below(
    root: str,
    children: Mapping[str, Sequence[str]],
    parents: Mapping[str, tuple[str, ...]],
    ascii_only: bool,
) -> Iterator[Branch]:
    fork, last, line, blank = _BRANCHES[ascii_only]
    waiting: list[tuple[str, str, str]] = [(root, "", "")]
    seen: set[str] = set()
    while waiting:
        ref, own, below = waiting.pop()
        if ref in seen:
            continue
        seen.add(ref)
        yield Branch(ref, own, parents.get(ref, ())[1:])
        under = sorted(children.get(ref, ()), key=_number)
        for place, child in reversed(list(enumerate(under))):
            final = place == len(under) - 1
            waiting.append(
                (child, below + (last if final else fork), below + (blank if final else line))
            )


def _number(ref: str) -> tuple[int, str]:
    return (int(ref[1:]), "") if ref[1:].isdigit() else (0, ref)
