"""Scopes: what is refused, what is covered, and that overlap never misses a clash."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from loopx_kernel.domain.scope import check_path, check_scope, covers, overlap, touches, within
from loopx_kernel.errors import UsageError

_NAMES = st.sampled_from(["src", "Src", "theme", "a", "b", "x.css", "y.css", "é", "e\u0301"])
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)
_PIECES = st.sampled_from(["src", "theme", "a", "b", "*", "**", "?", "*.css", "x.css", "[ab]", "."])
_SCOPES = st.builds(
    lambda pieces, end: "/".join(pieces) + end,
    st.lists(_PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)
_REPOS = st.sampled_from([".", "mall", "/srv/mall", "/"])


@given(_REPOS, _SCOPES, _SCOPES, _PATHS)
def test_two_scopes_that_cover_one_path_overlap(repo: str, one: str, two: str, path: str) -> None:
    if covers(one, path) and covers(two, path):
        assert overlap(repo, (one,), repo, (two,)) is not None


@given(_SCOPES, _PATHS)
@example("?", "é")
@example("?", "e\u0301")
def test_a_rule_that_covers_a_path_asks_for_it_in_any_spelling(pattern: str, path: str) -> None:
    if covers(pattern, path):
        assert touches(pattern, path)
        assert touches(pattern, path.upper())


@pytest.mark.parametrize(
    ("repo_a", "a", "repo_b", "b"),
    [
        ("/r", "src/theme/**", "/r", "src/theme/a.css"),
        ("/r", "src/Theme/a.css", "/r", "src/theme/A.css"),
        ("/r", "src/e\u0301.css", "/r", "src/é.css"),
        ("/r", "**", "/r", "docs/plan.md"),
        (".", "**", ".", "docs/plan.md"),
        (".", "src/*.css", ".", "src/b/c.css"),
        ("/r", "src/", "/r", "src/a/b.css"),
        ("/r/packages", "shop/**", "/r", "packages/shop/a.ts"),
        ("/", "etc/x", "/etc", "**"),
        ("/r", "src/a[0-9].css", "/r", "src/a1.css"),
    ],
)
def test_overlaps(repo_a: str, a: str, repo_b: str, b: str) -> None:
    assert overlap(repo_a, (a,), repo_b, (b,)) == (a, b)
    assert overlap(repo_b, (b,), repo_a, (a,)) == (b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [("src/theme/**", "src/themes/**"), ("docs/a.md", "docs/b.md"), ("src/", "tests/theme/**")],
)
def test_apart(a: str, b: str) -> None:
    assert overlap("/r", (a,), "/r", (b,)) is None
    assert overlap("/r", (a,), "/other", (a,)) is None


def test_no_scope_overlaps_nothing() -> None:
    assert overlap("/r", (), "/r", ("**",)) is None


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/theme/**", "src/theme/a/b.css", True),
        ("src/theme/**", "src/theme", True),
        ("src/theme/**", "src/themes/a.css", False),
        ("./src/**", "src/a.css", True),
        ("src//theme/**", "src/theme/a.css", True),
        ("src/", "src/a.css", True),
        ("src/", "src", False),
        ("./", "any/thing", True),
        ("docs/plan.md", "docs/./plan.md", True),
        ("docs/plan.md", "docs/plan.md.bak", False),
        ("**/*.tf", "main.tf", True),
        ("**/*.tf", "infra/eu/main.tf", True),
        ("a/**/b/**/c", "a/b/x/c", True),
        ("src/**", "src/../infra/x", False),
        ("**", "../outside", False),
        ("**", "/etc/passwd", False),
    ],
)
def test_covers(pattern: str, path: str, expected: bool) -> None:
    assert covers(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("infra/**", "Infra/prod.tf", True),
        ("infra/prod.tf", "infra/", True),
        ("infra/prod.tf", "infra", True),
        ("infra/prod.tf", ".", True),
        ("**/*.tf", "infra/", True),
        ("**/*.tf", "infra/readme.md", False),
        ("infra/**", "src/a.css", False),
    ],
)
def test_touches(pattern: str, path: str, expected: bool) -> None:
    assert touches(pattern, path) is expected


@pytest.mark.parametrize(
    ("scope", "path", "expected"),
    [
        ("src/*.css", "src/a.css", True),
        ("src/*.css", "src/deep/a.css", False),
        ("./docs/a*", "docs/a/b", False),
        ("src/**", "src/deep/a.css", True),
        ("**/*.css", "src/deep/a.css", True),
        ("src/", "src/deep/a.css", True),
        ("src/theme", "src/theme", True),
        ("src/theme", "src/theme/a.css", False),
    ],
)
def test_within(scope: str, path: str, expected: bool) -> None:
    assert within(scope, path) is expected


@pytest.mark.parametrize(
    "text", ["", " ", " a", "a ", "/etc", "../x", "a/../b", "a\\b", "a\0b", "a\nb", "a\x7fb"]
)
def test_refused_scopes(text: str) -> None:
    for check in (check_scope, check_path):
        with pytest.raises(UsageError) as caught:
            check(text)
        assert caught.value.code == "invalid_scope"


@pytest.mark.parametrize("text", ["src/theme/**", "src/", "a b/c", "文档/计划.md", "[id].tsx"])
def test_legal_scopes(text: str) -> None:
    assert check_scope(text) == text


def test_an_action_names_paths_not_globs() -> None:
    assert check_path("src/[id].tsx") == "src/[id].tsx"
    for glob in ("src/*", "src/?.css", "**"):
        with pytest.raises(UsageError) as caught:
            check_path(glob)
        assert caught.value.code == "invalid_scope"
