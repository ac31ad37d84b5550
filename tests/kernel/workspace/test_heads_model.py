"""Which lines a key counts for, and which losses a repair explains, against a history in full."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from loopx_kernel.domain.records import Cut, Head
from loopx_kernel.domain.roster_state import Owner, WorkspaceState
from loopx_kernel.workspace.resume import Seen

GOAL = "dark-mode"
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "note", "repair", "repair house", "see", "lose"]),
        st.integers(0, 30),
    ),
    max_size=25,
)


@dataclass
class Chain:
    """A journal whose every line ever written is told apart by its head.

    ``made`` counts lines ever written. ``lines`` stand there now, ``cuts`` are the repairs
    among them by head, and ``removed`` says which repair took a line away.
    """

    made: int = 0
    lines: list[str] = field(default_factory=lambda: ["0"])
    cuts: dict[str, Cut] = field(default_factory=dict)
    removed: dict[str, set[str]] = field(default_factory=dict)

    def append(self) -> str:
        self.made += 1
        self.lines.append(str(self.made))
        return self.lines[-1]

    def head(self) -> Head:
        return Head(seq=len(self.lines), head=self.lines[-1])

    def cut(self, number: int, missed: Head | None = None, house: Chain | None = None) -> None:
        after = 1 + number % len(self.lines)
        gone, self.lines = self.lines[after:], self.lines[:after]
        kept = self.head()
        name = self.append()
        for line in gone:
            self.removed.setdefault(line, set()).add(name)
        self.cuts[name] = Cut(
            event_id=name,
            after=kept,
            missed=missed,
            roster_seq=len(house.lines) if house else 0,
            roster_cuts=tuple(one.event_id for one in house.present_cuts()) if house else (),
        )

    def lose(self, number: int) -> None:
        """Lines vanish and nobody signed for it."""
        self.lines = self.lines[: 1 + number % len(self.lines)]

    def present_cuts(self) -> tuple[Cut, ...]:
        return tuple(cut for name, cut in self.cuts.items() if name in self.lines)


@given(STEPS, STEPS, STEPS)
def test_a_key_counts_for_exactly_the_lines_written_while_it_was_there(
    before: list[tuple[str, int]], between: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    goal, house = Chain(), Chain()
    run(goal, house, before)
    enrolled, start, came = house.append(), goal.made, goal.head()
    run(goal, house, between)
    revoked, end, went = house.append(), goal.made, goal.head()
    run(goal, house, after)
    if enrolled not in house.lines:
        return
    key = Owner(
        name="wu",
        key="k",
        fingerprint="f",
        enrolled_seq=1 + house.lines.index(enrolled),
        from_heads={GOAL: came},
    )
    if revoked in house.lines:
        seq = 1 + house.lines.index(revoked)
        key = key.model_copy(update={"revoked_seq": seq, "to_heads": {GOAL: went}})
    else:
        end = goal.made
    workspace = WorkspaceState(owners=(key,), cuts=house.present_cuts())
    cuts = goal.present_cuts()
    born = [int(line) for line in goal.lines]
    seqs = range(1, len(born) + 1)
    counts = [bool(workspace.keys_at(GOAL, n, cuts)) for n in seqs]
    assert counts == [start < one <= end for one in born]
    known = [workspace.is_person_at("WU", GOAL, n, cuts) for n in seqs]
    assert known == [start < one for one in born]
    later = [bool(workspace.keys_at("opened-later", n, cuts)) for n in seqs]
    assert later == [revoked not in house.lines] * len(born)


def run(goal: Chain, house: Chain, steps: list[tuple[str, int]]) -> None:
    for kind, number in steps:
        if kind == "note":
            house.append()
        elif kind == "repair":
            goal.cut(number, house=house)
        elif kind == "repair house":
            house.cut(number)
        else:
            goal.append()


@given(STEPS)
def test_a_repair_explains_what_it_cut_off_and_a_loss_without_one_is_never_explained(
    steps: list[tuple[str, int]],
) -> None:
    history = Chain()
    seen: list[Seen] = []
    for kind, number in steps:
        if kind == "see":
            known = frozenset(cut.event_id for cut in history.present_cuts())
            seen.append(Seen(history.head(), known))
        elif kind == "repair":
            lost = [one.line for one in seen if one.line.head not in history.lines]
            history.cut(number, lost[number % len(lost)] if lost and number % 2 else None)
        elif kind == "lose":
            history.lose(number)
        else:
            history.append()
    cuts = history.present_cuts()
    for one in seen:
        if one.line.head in history.lines:
            continue
        since = {cut.event_id for cut in cuts} - one.cuts
        explained = one.explained_by(cuts)
        if history.removed.get(one.line.head, set()) & since:
            assert explained, "what a person signed for is no alarm"
        if any(cut.missed == one.line for cut in cuts if cut.event_id in since):
            assert explained, "what a person signed for is no alarm"
        if explained:
            last = min(
                min(cut.after.seq, cut.missed.seq - 1 if cut.missed else cut.after.seq)
                for cut in cuts
                if cut.event_id in since
            )
            assert last < one.line.seq, "nobody signed for a line as early as this"


def test_a_line_after_one_that_was_given_up_went_with_it() -> None:
    missed = Head(seq=10, head="a")
    cut = Cut(event_id="c", after=Head(seq=30, head="z"), missed=missed, roster_seq=3)
    at = {seq: Seen(Head(seq=seq, head="other"), frozenset()) for seq in (9, 10, 30)}
    assert {seq: one.explained_by([cut]) for seq, one in at.items()} == {
        9: False,
        10: True,
        30: True,
    }
    assert not Seen(missed, frozenset({"c"})).explained_by([cut])
    assert not Seen(missed, frozenset()).explained_by([])
