"""Where everything is in ``.loopx``, and making the folder."""

from __future__ import annotations

from pathlib import Path

from loopx_kernel.errors import UsageError
from loopx_kernel.store.disk import atomic_write, make_folder
from loopx_kernel.store.files import Files
from loopx_kernel.value import Value

STATE_FILE_NAME = "ACTIVE_GOAL_STATE.md"
_WORKSPACE = "_workspace"


class Layout(Value):
    """The paths of one workspace; ``root`` is the directory that holds ``.loopx``. One that was
    set aside has another ``name``.

    Asking for a path makes nothing. Ids that are no plain file name raise
    ``UsageError`` ``invalid_value``.
    """

    root: Path
    name: str = ".loopx"

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def registry(self) -> Path:
        return self.folder / "registry.json"

    @property
    def owners(self) -> Path:
        return self.folder / "owners"

    @property
    def config(self) -> Path:
        return self.folder / "config.yaml"

    @property
    def goals_folder(self) -> Path:
        return self.folder / "goals"

    @property
    def runtime_folder(self) -> Path:
        return self.folder / "runtime"

    @property
    def workspace_runtime(self) -> Path:
        return self.runtime_folder / _WORKSPACE

    @property
    def workspace_journal(self) -> Path:
        return self.workspace_runtime / "events.jsonl"

    @property
    def workspace_lock(self) -> Path:
        return self.workspace_runtime / "lock"

    @property
    def workspace_quarantine(self) -> Path:
        return self.workspace_runtime / "quarantine"

    def goal_runtime(self, goal_id: str) -> Path:
        return self.runtime_folder / _plain(goal_id)

    def goal_journal(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "events.jsonl"

    def goal_lock(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "lock"

    def spend(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "spend.jsonl"

    def leases(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "task-leases"

    def lease(self, goal_id: str, todo_id: str) -> Path:
        return self.leases(goal_id) / f"{_plain(todo_id)}.json"

    def statements(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "statements"

    def statement(self, goal_id: str, todo_id: str) -> Path:
        return self.statements(goal_id) / f"{_plain(todo_id)}.json"

    def objects(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "objects"

    def object(self, goal_id: str, sha256: str) -> Path:
        return self.objects(goal_id) / _plain(sha256)

    def quarantine(self, goal_id: str) -> Path:
        return self.goal_runtime(goal_id) / "quarantine"

    def folders_of(self, goal_id: str) -> tuple[Path, ...]:
        """The folders the kernel writes a goal's files and the workspace's in."""
        return (
            self.goals_folder,
            self.state_file(goal_id).parent,
            self.runtime_folder,
            self.workspace_runtime,
            self.workspace_quarantine,
            self.goal_runtime(goal_id),
            self.leases(goal_id),
            self.statements(goal_id),
            self.objects(goal_id),
            self.quarantine(goal_id),
        )

    def state_file(self, goal_id: str) -> Path:
        """The default place of the goal's ``ACTIVE_GOAL_STATE.md``."""
        return self.goals_folder / _plain(goal_id) / STATE_FILE_NAME

    def make(self, files: Files) -> None:
        """Makes ``.loopx`` where it is missing; durable on return; changes no byte that exists."""
        make_folder(self.goals_folder, files=files)
        make_folder(self.workspace_runtime, files=files)
        for name, content in ((".gitignore", b"*\n"), (".gitattributes", b"* -text\n")):
            path = self.folder / name
            if not path.exists():
                atomic_write(path, content, files=files)

    def make_goal(self, goal_id: str, files: Files) -> None:
        """Makes the folders of one goal where they are missing; durable on return."""
        for folder in (
            self.state_file(goal_id).parent,
            self.leases(goal_id),
            self.statements(goal_id),
            self.objects(goal_id),
        ):
            make_folder(folder, files=files)


def _plain(name: str) -> str:
    if not name or name.startswith((".", "_")) or "/" in name or "\0" in name or len(name) > 200:
        raise UsageError(
            "invalid_value",
            f"{name!r} cannot be the name of a file",
            next="use letters, digits and hyphens",
            value=name,
        )
    return name
