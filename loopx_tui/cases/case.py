"""A case: one kind of thing that people decide, with the ways there are to decide it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from loopx_kernel.domain.event import WORKSPACE_JOURNAL

from loopx_tui.presentation.lines import Line

if TYPE_CHECKING:
    from loopx_kernel.views.goal import GoalView
    from loopx_kernel.workspace import Done, Unsigned

    from loopx_tui.decisions import Ledger

Values: TypeAlias = Mapping[str, str]
"""What a person wrote into the fields of a case, by their names; many are one a line."""
Section: TypeAlias = Sequence[Line]


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to write, to choose any number of, or to pick one of. ``fresh`` is asked at
    each decision, never kept.

    A ``page`` is a text with numbered lines. ``check`` reads a line that was written, and raises
    ``LoopxError`` where that is wrong.
    """

    name: str
    label: str
    kind: Literal["line", "text", "page", "lines", "choice", "pick", "time"] = "line"
    required: bool = True
    hint: str = ""
    fresh: bool = False
    check: Callable[[str], object] = str


@dataclass(frozen=True, slots=True)
class Way:
    """One way to decide: the command whose key it has, the word for it in the kernel, what its
    key does, what is said of it once it is recorded, and the fields it cannot do without.

    It opens at the end of the text where it ``grants`` something.
    """

    command_id: str
    name: str
    title: str
    done: str
    needs: tuple[Field, ...] = ()
    grants: bool = True


@dataclass(frozen=True, slots=True)
class Matter:
    """One object of a case as it stands at one moment.

    ``meaning`` is what a decision is about: where a part of it changes, nothing may be decided
    unseen. ``version`` is that of the object where it has one, and ``signs`` what the payload
    of a statement about it must hold. ``record`` is what its case shows.
    """

    goal_id: str
    object_id: str
    open: bool
    status: str
    meaning: Values
    record: Any
    view: GoalView | None = None
    version: int | None = None
    signs: Mapping[str, Any] = field(default_factory=dict)
    irreversible: bool = False
    texts: tuple[str, ...] = ()
    settled: tuple[Line, ...] = ()

    def is_about(self, statement: Mapping[str, Any]) -> bool:
        """Whether a statement is about this object, as it stands here."""
        about = {"id": self.object_id, "version": self.version}
        same = self.version is None or statement["object"] == about
        return bool(
            same and all(statement["payload"].get(name) == one for name, one in self.signs.items())
        )


class Asked(NamedTuple):
    """A decision on its way to a statement."""

    matter: Matter
    owner: str
    way: Way
    values: Values

    @property
    def goal_id(self) -> str:
        """The goal it is made in."""
        return self.matter.goal_id


class Difference(NamedTuple):
    """One thing about a matter that is not as it was shown."""

    field: str
    before: str
    after: str


def _none(matter: Matter) -> Mapping[str, Sequence[tuple[str, str]]]:
    return {}


def _no_values(matter: Matter) -> Values:
    return {}


def _no_packet(matter: Matter) -> str | None:
    return None


def own_packet(matter: Matter) -> str | None:
    """The review packet of what has an id of its own."""
    return matter.object_id


def _open(matter: Matter, values: Values, way: Way) -> str:
    return ""


def _no_problem(matter: Matter, values: Values) -> str:
    return ""


def _nothing_after(done: Done[Any]) -> Iterable[Line]:
    return ()


def _no_input(matter: Matter, values: Values) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table of cases.

    ``look`` reads the object (goal id, object id) and ``prepare`` makes the statement; both are
    for worker threads and raise ``LoopxError``. ``show`` gives the sections of the review for a
    width in cells, and ``loopx`` the options behind ``loopx`` that do the same as a way. ``fields``
    are written before a decision, where it is ``first`` as soon as it is opened; ``begin`` fills
    them in, and ``take``, where there is one, is given what was written and returns it as it
    counts, for worker threads; it raises ``LoopxError`` for what cannot be used. ``choices`` are
    what a field offers, and ``why_not`` says why a way is closed. ``packet`` is the name of its
    review packet, where it has one. ``problem`` says what is wrong with all that was written,
    and ``stdin`` is what the ``loopx`` command reads there. ``after`` is what a person is told
    behind the receipt. The fields of one that goes ``step_by_step`` are asked one by one.
    """

    id: str
    noun: str
    ways: tuple[Way, ...]
    look: Callable[[Ledger, str, str], Matter]
    show: Callable[[Matter, Values, int], Iterable[Section]]
    prepare: Callable[[Ledger, Asked], Unsigned]
    loopx: Callable[[Matter, Values, Way], Sequence[str]]
    fields: tuple[Field, ...] = ()
    first: bool = False
    begin: Callable[[Matter], Values] = _no_values
    choices: Callable[[Matter], Mapping[str, Sequence[tuple[str, str]]]] = _none
    why_not: Callable[[Matter, Values, Way], str] = _open
    packet: Callable[[Matter], str | None] = _no_packet
    take: Callable[[Values], Values] | None = None
    problem: Callable[[Matter, Values], str] = _no_problem
    stdin: Callable[[Matter, Values], str] = _no_input
    after: Callable[[Done[Any]], Iterable[Line]] = _nothing_after
    step_by_step: bool = False

    def way(self, command_id: str) -> Way | None:
        """The way behind a command's key."""
        return next((way for way in self.ways if way.command_id == command_id), None)

    def command_line(self, matter: Matter, values: Values, way: Way) -> str:
        """The ``loopx`` command that does the same."""
        words = ["loopx", *self.loopx(matter, values, way)]
        if matter.goal_id != WORKSPACE_JOURNAL and "--goal" not in words:
            words += ["--goal", matter.goal_id]
        given = self.stdin(matter, values)
        # In one line: several would be pasted with the margin they are shown with.
        handed = shlex.join(["printf", "%s\\n", *given.splitlines()])
        return f"{handed} | {shlex.join(words)}" if given else shlex.join(words)


REASON = Field("reason", "reason", hint="It becomes part of what you sign, and agents read it.")
FACTS = Field("facts", "facts", "lines", required=False, hint="On what that rests, one a line.")


def lines_of(values: Values, name: str) -> tuple[str, ...]:
    """The lines of a field, without empty ones."""
    return tuple(filter(None, map(str.strip, values.get(name, "").splitlines())))


def missing(fields: Iterable[Field], values: Values) -> tuple[Field, ...]:
    """The fields that must be filled and are not, and those asked each time."""
    return tuple(
        one
        for one in fields
        if one.fresh or (one.required and not values.get(one.name, "").strip())
    )


def differences(before: Values, after: Values) -> tuple[Difference, ...]:
    """What differs between two states of a matter in anything a decision is about."""
    pairs = ((name, before.get(name, ""), after.get(name, "")) for name in {**before, **after})
    return tuple(Difference(name, old, new) for name, old, new in pairs if old != new)
