"""doctor."""

from __future__ import annotations

import argparse

from lamplighter.app.doctoring import Wishes, examine
from lamplighter.app.place import open_workspace
from lamplighter.cli.command import Add
from lamplighter.cli.console import Console
from lamplighter.doctor.finding import Finding, State, judge_all

_WIDTH = 18


def add_commands(add: Add) -> None:
    """Add the command to the parser."""
    parser = add("doctor", _doctor)
    parser.add_argument("--deep", action="store_true", help="compare features, records, journal and database too")
    parser.add_argument("--offline", action="store_true", help="ask nothing of the network")


def _doctor(arguments: argparse.Namespace, console: Console) -> int:
    workspace = open_workspace(arguments.workspace, console.say)
    findings: list[Finding] = []
    for finding in examine(workspace, Wishes(is_offline=arguments.offline, is_deep=arguments.deep)):
        findings.append(finding)
        tell = console.good if finding.state is State.OK else console.bad
        tell(f"{finding.about:<{_WIDTH}} {finding.line}")
    code = judge_all(findings)
    console.value({"code": code.value, "findings": [_describe(finding) for finding in findings]})
    return code


def _describe(finding: Finding) -> dict[str, str]:
    return {
        "about": finding.about,
        "state": finding.state.value,
        "words": finding.words,
        "remedy": finding.remedy,
    }
