"""What workers do beside their jobs: run acceptance, tell the owner, propose, look outside."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopx_tui.demo import repo
from loopx_tui.demo.checks import Ci
from loopx_tui.demo.command import Loopx, Reply
from loopx_tui.demo.place import Place

ACCEPT_BEATS, DIGEST_BEATS, PROPOSE_AT = 6, 5, 3
LANDS = {"dark-mode": "report", "fix-checkout": "probe", "docs-refresh": "review"}
"""How each goal comes to know of what its work waits for."""
WAITS = {"report": "ci", "probe": "ci:baskets", "review": "review"}
OBJECTIVE = "Every basket totals and rounds as its currency does, and says so on its receipt"


@dataclass(frozen=True, slots=True)
class Chores:
    """The chores of one worker in one goal. What the ledger refuses waits for the next time."""

    place: Place
    loopx: Loopx

    @property
    def goal(self) -> str:
        """The goal they are for."""
        return self.loopx.goal

    def do(self, beat: int) -> None:
        """Those that are due at this beat, counted from 1."""
        if beat % ACCEPT_BEATS == 0:
            self.loopx.ask("accept", "run")
        if self.goal == "docs-refresh" and beat % DIGEST_BEATS == 0:
            self._tell_the_owner(beat)
        if self.goal == "fix-checkout" and beat == PROPOSE_AT:
            self._propose()

    def land(self, ci: Ci, todo_id: str) -> Reply:
        """Looks at what a todo waits for, and hands in what was seen."""
        lands = LANDS[self.goal]
        if lands == "probe":
            return self.loopx.ask("observe", "probe", "baskets", "--todo", todo_id)
        if lands == "review":
            seen = ("--kind", "review", "--status", "pass", "--ref", f"docs-{todo_id}")
            return self.loopx.ask("observe", "record", *seen, "--todo", todo_id)
        commit, report = repo.head(self.place), str(ci.run(todo_id).report)
        return self.loopx.ask("observe", "junit", report, "--ref", commit, "--todo", todo_id)

    def _tell_the_owner(self, beat: int) -> None:
        """Nobody watches this run, so the judge of the rules is asked whether it may."""
        alone = replace(self.loopx, unattended=True)
        what = ("--action", "notify", "--command", "send-digest --to owner")
        if alone.ask("gate", "use", *what).ok:
            status = self.loopx.must("status")
            line = f"{self.goal}: {status['todos']['done']} done\n"
            repo.write(self.place.top, {f"outbox/{self.goal}-{beat}.txt": line})

    def _propose(self) -> None:
        """Sent again after a new start it is the same proposal."""
        change = ("--text", OBJECTIVE, "--reason", "Shoppers ask how their total came about")
        self.loopx.ask("propose", "objective", *change, "--event-id", "demo-receipts")
