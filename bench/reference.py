"""The two versions of the reference implementation that people install today, on the same work."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

from bench.commands import SHOULD_RUN, claims, renewals
from bench.journal import lengthen
from bench.peers import REFERENCES, NotInstalled, end_servers, installed, node
from bench.place import AGENT, BY, LOOPX, add_todos, loopx, new_todo
from bench.results import Results, Times
from bench.timing import Work, in_turn, process, run

VERSIONS = dict(zip(REFERENCES, ((), ("--task-lease-idempotency-key",)), strict=True))
"""Each version, and the option by which its claim takes the lease too."""
ROUNDS = 5
TODOS, SPENDS = 200, 2_000
BOUND = 5.0
BOUNDED = ("status", "should-run", "claim", "lease")
SIZES = ("fresh", f"{TODOS} todos, {SPENDS:,} spends")


@dataclass
class Peer:
    """One installed version, and the workspace it works in."""

    version: str
    script: Path
    root: Path
    env: dict[str, str]

    def __call__(self, *words: str) -> str:
        """Runs one of its commands, which must succeed; what it printed."""
        return run((self.script, "--format", "json", *words), self.root, self.env, answers=(0,))

    def work(self, *words: str) -> Work:
        """The same as work to be done in turn."""

        def timed(_: int) -> float:
            start = time.perf_counter()
            self(*words)
            return time.perf_counter() - start

        return timed

    def add(self, title: str) -> str:
        """The id of a todo just added."""
        told = self("todo", "add", *GOAL, "--role", "agent", "--text", f"[P1] {title}")
        return str(json.loads(told)["todo_id"])

    def claim(self, todo: str) -> None:
        """Takes a todo."""
        lease = [text for option in VERSIONS[self.version] for text in (option, todo)]
        who = ("--claimed-by", AGENT, *PEER_AGENT)
        self("todo", "claim", *GOAL, "--todo-id", todo, *who, *lease)


GOAL = ("--goal-id", "shop")
PEER_AGENT = ("--agent-id", AGENT)
PROGRESS = (
    *("--classification", "validated_progress"),
    *("--delivery-batch-scale", "multi_surface", "--delivery-outcome", "outcome_progress"),
)


def reference(root: Path, results: Results) -> None:
    """Both versions and ours in turn, fresh and after much work."""
    try:
        _in_both_sizes(root, results)
    finally:
        servers = end_servers()
    results.note(
        f"The reference answers with the help of {servers} servers that its commands leave; "
        "they were warm in every round that counts, and were ended after it. Ours has none."
    )


def _in_both_sizes(root: Path, results: Results) -> None:
    peers = list(_peers(root.parent, results))
    for size in SIZES:
        if size != SIZES[0]:
            _fill(root)
            _fill_peers(peers)
        _compare(root, peers, size, results)


def _peers(home: Path, results: Results) -> Iterator[Peer]:
    for version in VERSIONS:
        try:
            folder = installed(f"loopx-{version}", f"loopx=={version}")
            path = f"{node()}{os.pathsep}{os.environ['PATH']}"
            yield _begun(version, folder / "bin" / "loopx", home / f"reference-{version}", path)
        except (NotInstalled, RuntimeError) as why:
            results.note(f"The reference {version} is left out: {why}")


def _begun(version: str, script: Path, home: Path, path: str) -> Peer:
    root = home / "shop"
    root.mkdir(parents=True)
    env = {**os.environ, "HOME": str(home), "PATH": path, "LOOPX_USAGE_PING": "0"}
    peer = Peer(version, script, root, env)
    run(("git", "init", "-q", "."), root, env)
    peer("bootstrap", "--project", ".", *GOAL, "--objective", "Sell more")
    peer("register-agent", *GOAL, *PEER_AGENT, "--execute")
    peer.add("Work")
    return peer


def _compare(root: Path, peers: list[Peer], size: str, results: Results) -> None:
    ours = _ours(root)
    theirs = {peer.version: _theirs(peer) for peer in peers}
    for name, work in ours.items():
        works = {"loopx-tui": work}
        works |= {version: them[name] for version, them in theirs.items()}
        done: dict[str, Times] = {}
        try:
            done = in_turn(works, ROUNDS)
        except RuntimeError as why:
            results.note(f"{name}, {size}: {why}")
        for who, taken in done.items():
            note = f"{taken.over(done['loopx-tui']):.1f} x ours" if who != "loopx-tui" else ""
            results.times(f"{name}, {size}: {who}", taken, note)
        if name in BOUNDED:
            others = [taken.over(done["loopx-tui"]) for who, taken in done.items() if who in theirs]
            least = min(others) if len(others) == len(VERSIONS) else None
            results.at_least(f"{name}, {size}: the faster reference, times ours", least, BOUND, "x")


def _ours(root: Path) -> dict[str, Work]:
    return {
        "status": process((LOOPX, "status", "--json"), root),
        "should-run": process((LOOPX, *SHOULD_RUN, "--json"), root),
        "claim": claims(root),
        "lease": renewals(root),
        "append": lambda number: _timed(lambda: new_todo(root, f"Appended {number}")),
    }


def _theirs(peer: Peer) -> dict[str, Work]:
    def claim(_: int) -> float:
        todo = peer.add(f"Taken {time.monotonic_ns()}")
        return _timed(lambda: peer.claim(todo))

    leased = peer.add(f"Held {time.monotonic_ns()}")
    held = (*GOAL, "--todo-id", leased, "--owner", AGENT, "--idempotency-key", "bench-1")
    version = [_lease_version(peer("task-lease", "acquire", *held))]

    def renew(_: int) -> float:
        start = time.perf_counter()
        told = peer("task-lease", "renew", *held, "--expected-version", str(version[0]))
        seconds = time.perf_counter() - start
        version[0] = _lease_version(told)
        return seconds

    return {
        "status": peer.work("status"),
        "should-run": peer.work("quota", "should-run", *GOAL, *PEER_AGENT),
        "claim": claim,
        "lease": renew,
        "append": lambda number: _timed(lambda: peer.add(f"Appended {time.monotonic_ns()}")),
    }


def _lease_version(told: str) -> int:
    value = json.loads(told)
    lease = value.get("lease") or value
    return int(lease["version"])


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _fill(root: Path) -> None:
    """Ours: so many open todos, and a journal in which so many turns were booked."""
    add_todos(root, TODOS)
    journal = root / ".loopx/runtime/shop/events.jsonl"
    lengthen(journal, "shop", AGENT, SPENDS * 10, steps=10)
    loopx(root, "refresh-state", *BY, "--handoff", "caught up")


def _fill_peers(peers: Sequence[Peer]) -> None:
    """Both at once, for that takes long. Where the case has had its time they end with it."""
    over = Event()
    with ThreadPoolExecutor(len(VERSIONS)) as pool:
        try:
            list(pool.map(lambda peer: _fill_peer(peer, over), peers))
        finally:
            over.set()


def _fill_peer(peer: Peer, over: Event) -> None:
    """Theirs: so many todos added by their command, and what it wrote for one spend so many
    times."""
    for number in range(TODOS):
        if over.is_set():
            return
        peer.add(f"Work {number}")
    contract = json.loads(peer("quota", "should-run", *GOAL, *PEER_AGENT))
    peer("refresh-state", *GOAL, *PEER_AGENT, *PROGRESS)
    spend = ("quota", "spend-slot", *GOAL, *PEER_AGENT, "--slots", "1", "--source", "heartbeat")
    peer(*spend, "--execute", "--todo-id", contract["selected_todo"]["todo_id"])
    index = next(peer.root.parent.rglob("runs/index.jsonl"))
    last = json.loads(index.read_text("utf-8").splitlines()[-1])
    event = json.loads(Path(last["json_path"]).read_text("utf-8"))
    at = datetime.fromisoformat(last["generated_at"])
    with index.open("a", encoding="utf-8") as file:
        for number in range(SPENDS):
            when = (at - timedelta(minutes=1 + number % 1_000)).isoformat()
            path = index.parent / f"spent-{number}.json"
            path.write_text(json.dumps(event | {"generated_at": when}), "utf-8")
            line = {**last, "generated_at": when, "json_path": str(path)}
            line["quota_spend_commit"] = {
                **last["quota_spend_commit"],
                "effect_id": f"quota-spend:{number:064x}",
            }
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
