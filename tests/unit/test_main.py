"""The entry point: what comes before the command line is there to say anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

_INTERRUPTED = """
import sys, types
class Loader:
    def find_spec(self, name, path=None, target=None):
        if name == "lamplighter.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Loader())
{before}
from lamplighter.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(("before", "said"), [("", "lamplighter: interrupted\n"), ("sys.stderr = None", "")])
def test_ctrl_c_while_it_loads_is_one_line(before: str, said: str) -> None:
    """No traceback, and exit 130; without a standard error there is no line."""
    code = _INTERRUPTED.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


def test_the_module_is_the_program() -> None:
    """`python -m lamplighter` is `lamplighter`."""
    done = subprocess.run(
        [sys.executable, "-m", "lamplighter", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("lamplighter ")
