"""Run the simulated Instagram by hand: `python -m tests.simulators.instagram`."""

from __future__ import annotations

import argparse
import sys
import threading
from contextlib import suppress
from pathlib import Path

from tests.simulators.instagram import control, fault
from tests.simulators.instagram.knob import Knobs
from tests.simulators.instagram.simulator import APP_ID, APP_SECRET, InstagramSimulator


def build_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulators.instagram",
        description="Instagram's publishing API on a loopback port, with its rules, lies and faults.",
        epilog=f"{fault.__doc__}\n\n{control.__doc__}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port; a free one without it")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="SCRIPT", help="a line of the fault script, or @FILE of lines"
    )
    parser.add_argument("--knob", action="append", default=[], metavar="NAME=VALUE", help="turn a knob")
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="PUBLIC=LOOPBACK",
        help="https://media.example=http://127.0.0.1:8001",
    )
    parser.add_argument("--token", default="", help="the access token, instead of a made-up one")
    parser.add_argument("--show-knobs", action="store_true", help="print every knob with its value, and end")
    return parser


def read_script(lines: list[str]) -> list[str]:
    """Return the lines of the script, those of @FILE among them; empty lines and # lines are left out."""
    found: list[str] = []
    for line in lines:
        if not line.startswith("@"):
            found.append(line)
            continue
        text = Path(line[1:]).read_text(encoding="utf-8")
        found += [part.strip() for part in text.splitlines() if part.strip() and not part.lstrip().startswith("#")]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Serve until it is stopped; 2 when an argument is wrong."""
    given = build_parser().parse_args(arguments)
    knobs = Knobs()
    try:
        for one in given.knob:
            name, _, value = one.partition("=")
            knobs.turn(name, value)
        origins = dict(one.rsplit("=", 1) for one in given.origin)
        simulator = InstagramSimulator(knobs=knobs, faults=read_script(given.fault), origins=origins, port=given.port)
    except (ValueError, OSError) as error:
        print(f"instagram simulator: {error}", file=sys.stderr)
        return 2
    if given.show_knobs:
        print("\n".join(f"{name}={value}" for name, value in knobs.shown().items()))
        return 0
    token = simulator.issue_token(value=given.token) if given.token else simulator.token
    with simulator, suppress(KeyboardInterrupt):
        print(f"graph.instagram.com  {simulator.instagram_url}")
        print(f"graph.facebook.com   {simulator.facebook_url}")
        print(f"api.instagram.com    {simulator.api_url}")
        print(f"www (sign-in)        {simulator.sign_in_url}")
        print(f"control              {simulator.url}/_sim/state")
        print(f"account              {simulator.account.id} @{simulator.account.username}")
        print(f"token                {token}")
        print(f"page token           {simulator.page_token}")
        print(f"app                  {APP_ID} {APP_SECRET}", flush=True)
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
