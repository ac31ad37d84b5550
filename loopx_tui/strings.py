"""Every label and sentence of the terminal UI, in one place and one tone."""

from __future__ import annotations

from typing import Final

APP: Final = "loopx"

# Panes: titles as on the screen
GOALS: Final = "Goals"
NEEDS: Final = "Needs you"
TODOS: Final = "Todos"
BEAT: Final = "Next beat"
COMPLETION: Final = "Completion"
LEASES: Final = "Leases"
SOURCES: Final = "Sources"
QUOTA: Final = "Quota"
EVENTS: Final = "Changes and events"
EVENTS_SHORT: Final = "Events"
ALERTS: Final = "Alerts"

# What would be in an empty pane, and how it comes
LOADING: Final = "Reading the ledger …"
NO_GOALS: Final = "No goals yet. Open one with `loopx start-goal --guided`"
NO_NEEDS: Final = "Nothing waits for you. Agents ask with `loopx gate request`"
NO_TODOS: Final = "No todos. Add one with `loopx todo add TITLE`"
NO_LEASES: Final = "Nobody holds a todo. Agents take one with `loopx todo claim`"
NO_SOURCES: Final = "No sources. Register one with `loopx source add`"
NO_EVENTS: Final = "No events yet. Every change of this goal will stand here"
NO_BEAT: Final = "What an agent is told at its next wake-up, and why"
NO_COMPLETION: Final = "What stands between a goal and its end, check by check"
NO_QUOTA: Final = "How much of a goal's slots is used, and how fast"
NO_MATCH: Final = "Nothing matches {needle}; {count} rows are hidden"
MORE: Final = "… {count} more"

INCOMPLETE_TAIL: Final = "1 incomplete line at the journal's end; it counts once it is whole"

# Header
NEED_YOU: Final = {True: "{count} needs you", False: "{count} need you"}
ALERT_COUNT: Final = {True: "{count} alert", False: "{count} alerts"}
TODO_COUNT: Final = {True: "{count} todo", False: "{count} todos"}
GOAL_COUNT: Final = {True: "{read}/{all} goal", False: "{read}/{all} goals"}
NOTHING_NEEDED: Final = "nothing needs you"
VERIFIED: Final = "verified"
TAIL_ONLY: Final = "tail since #{seq}"
AS_OF: Final = "as of {time}"
READ_ONLY: Final = "read-only"
DEMO: Final = "demo"
MODES: Final = {
    "start": "opening",
    "live": "live",
    "polling": "polling",
    "down": "watcher down",
    "none": "no workspace",
}
TINY_QUIT: Final = "q quit"

# A workspace that is not there
NO_WORKSPACE: Final = "No LoopX workspace can be read here"
NOT_READ: Final = "{path}: {why}"
NO_WORKSPACE_HELP: Final = (
    ("loopx connect", "makes this folder a workspace and enrols you as its owner"),
    ("loopx-tui demo", "shows everything on a live throw-away workspace"),
    ("loopx-tui PATH", "opens another workspace"),
)
WAITING_FOR_IT: Final = "This screen opens by itself as soon as there is one."

# Notices: they answer a person's own act
THEME_IS: Final = "Theme: {label}"
ROW_GONE: Final = "{key} is no longer in {pane}"
NOTHING: Final = "nothing"
NO_SUCH_GOAL: Final = "There is no goal {goal}; showing {shown}"
NOTHING_TO_OPEN: Final = "There is nothing to open here"
NOTHING_TO_COPY: Final = "There is nothing under the cursor to copy"
FILTER_PROMPT: Final = "filter {pane}; enter keeps it, escape shows all"
NO_OTHER_THEME: Final = "There is no other theme"
FEED_FAILED: Final = "Reading ended ({error}); the screen is old. Start again"

# Telling people once
NOTIFY_WRONG: Final = "config.yaml: notify is none, or has a command; it is left out"
NOTIFY_FAILED: Final = "Your notify.command did not work: {why}"

# Deciding
KEYS_WAIT: Final = "Decisions open when this has stood still for a moment"
AN_AGENT: Final = "LOOPX_AGENT is set ({agent}): only a person decides, in a shell of their own"
NOT_WRITABLE: Final = "Nothing can be written to this workspace; it can only be looked at"
DECIDED: Final = "{gate} is decided"
NOT_READ_YET: Final = "The gate is not read"
TOO_SMALL: Final = "This window is too small to read it; make it larger"
READ_ON: Final = "Approving opens at the end of the text; scroll down to it"
PROGRESS: Final = {
    "fixing": "Fixing the statement …",
    "unlocking": "Opening the key …",
    "appending": "Recording …",
}
DECIDING: Final = "A decision is under way"
FATES: Final = {
    "recorded": "The decision about {gate} was recorded",
    "not recorded": "The decision about {gate} was not recorded; it can be made again",
    "unknown": "It is not known whether the decision about {gate} was recorded;"
    " see: loopx gate show {gate} --goal {goal}",
}

# The command line
NO_TERMINAL: Final = "loopx-tui needs a terminal. For text use: loopx status"

# Details
DETAIL_KEYS: Final = "esc close"
GONE: Final = "gone since; this is how it was"
