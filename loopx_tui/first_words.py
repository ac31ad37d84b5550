"""The words of first use: the welcome, connecting a folder, opening a goal."""

from __future__ import annotations

from typing import Final

# A folder without a workspace
WELCOME: Final = "Welcome to LoopX"
NO_OWNER: Final = "This workspace has no owner yet"
NO_OWNER_WHY: Final = "{path} was begun and nobody signed for it. Connect it to become its owner."
WHAT_IT_IS: Final = (
    "Agents work here for days; you keep the last word. What they do and ask becomes a line in a "
    "ledger. What only you may decide waits for you, and you sign it."
)
WAITING_FOR_IT: Final = "This screen opens by itself as soon as there is a workspace."
WAYS: Final = {
    "connect": "makes .loopx here, owned by you and your key; then the first goal",
    "demo": "a live throw-away workspace: agents work, fail, wait and ask you",
    "workspace.open": "one that you know, or any other folder",
}
SHELL: Final = "From a shell: loopx connect, loopx start-goal --guided, loopx-tui demo"

# Connecting
CONNECT: Final = "Connect {folder}"
CONNECT_TEXT: Final = (
    "{folder} becomes a workspace: a folder .loopx with a journal in which every line proves the "
    "one before it. You are its first owner. What an owner decides is signed with a key, so that "
    "nobody can decide in your name."
)
OWNER_LABEL: Final = "your name here"
OWNER_HINT: Final = "Letters, digits, dots, dashes and @."
KEY_LABEL: Final = "your key"
KEY_HINT: Final = "Space chooses. A hardware key is offered once ssh-agent holds it: ssh-add"
OWN_KEY: Final = "your key {path} ({level}) {fingerprint}"
TOUCHED_KEY: Final = "your hardware key {comment} ({level}): touched each time {fingerprint}"
AGENT_KEY: Final = (
    "{comment} in ssh-agent ({level}), if it asks you each time (ssh-add -c) {fingerprint}"
)
KEY_UNUSABLE: Final = "not to be used: {why}"
NEW_KEY: Final = "a new key with a passphrase, for LoopX alone (recommended)"
NEW_OPEN_KEY: Final = "a new key without one: any program of yours could decide (software)"
NEW_PASSPHRASE: Final = "Your new key: its passphrase"
NEW_PASSPHRASE_TEXT: Final = (
    "You type it at each decision; nobody can give it back to you. The key lies in {path}."
)
PASSPHRASE_AGAIN: Final = "the same again"
PASSPHRASE_FIRST: Final = "passphrase"
PASSPHRASE_EMPTY: Final = "Type a passphrase; a key without one is another choice"
PASSPHRASE_DIFFERS: Final = "The two are not the same; type them again"
CONNECTING: Final = "Making the workspace …"
SIGN_ENROLMENT: Final = "Sign: you own this workspace from now on"
NOT_CONNECTED: Final = "Nothing was signed; connect again whenever you like"
CONNECTED: Final = "{root} is connected, and you are its owner"
CONNECTED_TITLE: Final = "Connected"
CHOOSE_KEY: Final = "Choose a key first"
GOAL_NEXT: Final = "enter the first goal"
DEMO_STAYS: Final = "This is the demo: quit it first (q)"

# Other workspaces
PLACES: Final = "Open a workspace"
PLACES_HINT: Final = "enter open   type to filter, or a path"
NO_PLACES: Final = "You know no workspace yet; type the path of a folder"
NOT_A_FOLDER: Final = "{path} is not a folder"
HERE: Final = "this one"
GONE: Final = "no .loopx there now"

# Opening a goal
NEW_GOAL: Final = "new goal"
STEP: Final = "{number} of {count} · {label}"
OBJECTIVE_HINT: Final = "What is wanted? One sentence, such as: Dark mode for the shop"
WHERE_HINT: Final = (
    "Where is the work? One path, dir/ or glob a line, such as src/theme/** . It stops nothing by "
    "itself: with the rule write in the next step, writing anywhere else needs your yes."
)
GATES_HINT: Final = (
    "What must not happen without your yes? One rule a line, KIND[:COMMAND][@PATH]: "
    "publish:git push*  delete  write@infra/**  network:curl*  secret"
)
DONE_HINT: Final = (
    "How does a machine see that it is done? One check a line: cmd:pytest -q  "
    "regex:^ok$@out.txt  json:out.json#/ok=true  rubric:Is it dark? >= 7"
)
HOW_MUCH_HINT: Final = "Which share of the day's minutes may it use? From 0 to 1, such as 0.4"
NAME_HINT: Final = "A short id, such as dark-mode. Made from the objective if you leave it empty."
OBJECTIVE_FIRST: Final = "Say what is wanted first: e"
OPENS: Final = "Opens the goal {goal}"
OPENED: Final = "the goal is open"
HOW_MUCH: Final = "How much"
HEADS: Final = {
    "write_scope": "Where workers may write",
    "gates": "What waits for your yes",
    "acceptance": "How a machine sees that it is done",
}
NONE_MEANS: Final = {
    "write_scope": "nowhere in particular: scopes of todos are theirs to say",
    "gates": "nothing: no action will wait for you",
    "acceptance": "no check: only you can accept the work, by hand",
}
PATH_READS: Final = "{path}"
GATE_READS: Final = "asks you before: {kind}"
GATE_COMMAND: Final = " by {command}"
GATE_PATH: Final = " in {path}"
GATE_OUTSIDE: Final = " outside of where the work is"
ACCEPTANCE_READS: Final = {
    "cmd": "{value} ends with 0",
    "regex": "{path} matches {value}",
    "json": "{path} is {value}",
    "junit": "every test of {path} passed",
    "rubric": "a judge gives at least {threshold} of 10: {value}",
}
SHARE_READS: Final = "{slots} of a minute in {hours}h"
NEXT: Final = "What comes next, from a shell"
AFTER_OPENING: Final = (
    ("name the agents that may work", "loopx agent add claude-code"),
    (
        "the first piece of work",
        "loopx todo add 'First piece of work' --goal {goal} --agent claude-code",
    ),
    ("at every wake-up of an agent", "loopx quota should-run --goal {goal} --agent claude-code"),
)
