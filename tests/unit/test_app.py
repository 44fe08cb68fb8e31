"""The composition root: the functions behind the commands, and that looking changes nothing."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.simulators.clock import START, VirtualClock
from tests.simulators.desk import Desk
from tests.simulators.publisher import make_receipt

from lamplighter.app import looking, making, opening, place
from lamplighter.app.place import Workspace, claim_state
from lamplighter.config.workspace import NewWorkspace, make_workspace
from lamplighter.engine.job import Evidence, Outcome, RunReport
from lamplighter.errors import ConfigError, FailureClass, InputError, LamplighterError, UsageError
from lamplighter.featurepost.stock import Reason
from lamplighter.value import replace

PRODUCED = RunReport(outcome=Outcome.PRODUCED, line="made", outputs=("x",))
FULL = RunReport(outcome=Outcome.NOTHING_NEEDED, line="full", evidence=(Evidence(name="stock", value="3 of 3"),))
FAILED = RunReport(outcome=Outcome.FAILED, line="shop down", failure=FailureClass.UPSTREAM)


def hush(line: str) -> None:
    """Take a line of progress."""
    assert line


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a workspace with two brands and an empty stock."""
    return Desk.in_workspace(tmp_path / "workspace")


def workspace_of(desk: Desk) -> Workspace:
    """Return what a command would open; its jobs work in this process, which alone knows the desk's clock."""
    return Workspace(folder=desk.folder, clock=desk.clock, say=desk.said.append, apart=False)


def fill_here(workspace: Workspace) -> RunReport:
    """Do what `generate` does, in this process."""
    return making.run_generate(replace(workspace, apart=False))


def post_here(workspace: Workspace) -> RunReport:
    """Do what `post` does, in this process."""
    return making.run_post(replace(workspace, apart=False))


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return name, times and content of everything below a folder."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes() if path.is_file() else b""
        )
        for path in folder.rglob("*")
    }  # fmt: skip


class Recorder:
    """Stands for init, generate and post, and remembers the calls in order."""

    def __init__(self, *fills: RunReport, posted: RunReport = PRODUCED) -> None:
        self.calls: list[str] = []
        self._fills = list(fills)
        self._posted = posted

    def make(self, folder: Path, shops: tuple[str, ...]) -> NewWorkspace:
        """Stand for init."""
        self.calls.append(f"init {folder.name} {','.join(shops)}")
        return make_workspace(folder, shops)

    def fill(self, workspace: Workspace) -> RunReport:
        """Stand for generate."""
        self.calls.append(f"generate {workspace.folder.name}")
        return self._fills.pop(0)

    def publish(self, workspace: Workspace) -> RunReport:
        """Stand for post."""
        self.calls.append(f"post {workspace.folder.name}")
        return self._posted

    def show(self, folder: Path) -> making.DemoResult:
        """Run the demo on the recorder."""
        return making.demo(folder, VirtualClock(), hush, make=self.make, fill=self.fill, publish=self.publish)


def test_the_demo_calls_only_what_the_commands_call() -> None:
    """Its defaults are the very functions behind init, generate and post."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(making.demo).parameters.items()}
    assert (defaults["make"], defaults["fill"], defaults["publish"]) == (
        making.init,
        making.run_generate,
        making.run_post,
    )


def test_the_demo_makes_a_workspace_fills_the_stock_and_posts_once(tmp_path: Path) -> None:
    """In this order, and nothing else."""
    recorder = Recorder(PRODUCED, PRODUCED, FULL)
    result = recorder.show(tmp_path / "demo")
    assert recorder.calls == ["init demo sample", "generate demo", "generate demo", "generate demo", "post demo"]
    assert (result.new, result.generated, result.posted) == (True, (PRODUCED, PRODUCED, FULL), PRODUCED)


def test_the_demo_goes_on_in_a_workspace_it_made(tmp_path: Path) -> None:
    """Without a second init."""
    Recorder(FULL).show(tmp_path / "demo")
    recorder = Recorder(FULL)
    result = recorder.show(tmp_path / "demo")
    assert (recorder.calls, result.new) == (["generate demo", "post demo"], False)


def test_the_demo_stops_filling_when_nothing_more_comes(tmp_path: Path) -> None:
    """A failure is not repeated, and an endless stock is not waited for."""
    recorder = Recorder(FAILED)
    assert recorder.show(tmp_path / "one").generated == (FAILED,)
    recorder = Recorder(*[PRODUCED] * 99)
    assert len(recorder.show(tmp_path / "two").generated) == 5


@pytest.mark.parametrize("content", ['account = "studio"', "", "[broken", 'account = "Demo"'])
def test_the_demo_refuses_a_persons_own_workspace(tmp_path: Path, content: str) -> None:
    """Nothing in it is touched, whatever its settings say."""
    (tmp_path / "lamplighter.toml").write_text(content)
    before = snapshot(tmp_path)
    recorder = Recorder()
    with pytest.raises(InputError, match="a workspace of your own, not a demo"):
        recorder.show(tmp_path)
    assert (recorder.calls, snapshot(tmp_path)) == ([], before)


def test_a_workspace_with_a_shop_of_ones_own_is_no_demo(tmp_path: Path) -> None:
    """Also when the sample is in it too."""
    make_workspace(tmp_path, ("sample", "shop.example"))
    with pytest.raises(InputError, match="not a demo"):
        Recorder().show(tmp_path)


def test_the_whole_demo_and_the_demo_again(tmp_path: Path) -> None:
    """Three made, one posted; then the stock is filled up and the day's post stands; then nothing is needed."""
    folder = tmp_path / "demo"
    runs = [making.demo(folder, VirtualClock(), hush, fill=fill_here, publish=post_here) for _ in range(3)]
    first, second, third = ([report.outcome.value for report in (*run.generated, run.posted)] for run in runs)
    assert first == ["produced", "produced", "nothing_needed", "produced"]
    assert second == ["produced", "nothing_needed", "nothing_needed"]
    assert third == ["nothing_needed", "nothing_needed"]
    assert all(report.evidence for report in (*runs[2].generated, runs[2].posted))
    (post,) = (tmp_path / "demo" / "outbox").iterdir()
    assert post.name == "2026-05-04-1930-feature-0001-wrenfold"
    assert {path.suffix for path in post.iterdir()} == {".jpg", ".txt", ".json", ".html"}
    demo = Workspace(folder=tmp_path / "demo", clock=VirtualClock(), say=hush)
    assert len(looking.read_runs(demo, job="", limit=99)) == 9
    assert (tmp_path / "demo" / "state").stat().st_mode & 0o777 == 0o700
    assert looking.read_status(demo).level.have == 3


def test_a_named_folder_must_be_there(tmp_path: Path) -> None:
    """A file and a name that no folder can have are none."""
    (tmp_path / "file").touch()
    for name, cause in (("gone", "no such folder"), ("file", "not a folder"), ("x" * 300, "no such folder")):
        with pytest.raises(InputError, match=cause):
            place.open_workspace(str(tmp_path / name), hush)
    with pytest.raises(InputError, match="no lamplighter"):
        place.open_workspace(str(tmp_path), hush)


def test_without_a_name_it_is_the_nearest_above_the_present_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command is started; links are followed to the real place."""
    make_workspace(tmp_path / "real", ())
    (tmp_path / "real" / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real" / "a" / "b")
    assert place.open_workspace(None, hush).folder == (tmp_path / "real").resolve()
    monkeypatch.chdir(tmp_path)
    assert place.open_workspace("link", hush).folder == (tmp_path / "real").resolve()
    assert place.open_workspace("real/a", hush).folder == (tmp_path / "real").resolve()


def test_a_present_folder_that_is_gone_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell may stand in a deleted folder."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    acts: tuple[Callable[[], object], ...] = (
        lambda: place.open_workspace(None, hush),
        lambda: place.open_workspace("x", hush),
        lambda: making.init(Path("x"), ()),
        lambda: making.demo(Path("x"), VirtualClock(), hush),
    )
    for act in acts:
        with pytest.raises(InputError, match="the present folder is gone"):
            act()


def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    """Root included: files of another owner would be left behind."""
    if os.geteuid() == 0:
        os.chown(tmp_path, 1, 1)
    foreign = tmp_path if os.geteuid() == 0 else Path("/")
    with pytest.raises(UsageError, match="it belongs to user"):
        place.refuse_other_user(foreign)
    with pytest.raises(UsageError, match="it belongs to user"):
        making.init(foreign, ())


def test_looking_changes_nothing(desk: Desk) -> None:
    """Dry runs, status, runs and reading: no file, no time stamp, nothing beside the database."""
    desk.put()
    desk.stock.new_draft("kirino")
    desk.database.close()
    before = snapshot(desk.folder)
    workspace = workspace_of(desk)
    making.plan_generate(workspace)
    making.plan_generate(workspace, force=True, brand="kirino")
    making.plan_post(workspace)
    making.plan_post(workspace, force=True)
    looking.read_status(workspace)
    looking.read_runs(workspace, job="", limit=5)
    with opening.reading(workspace) as parts:
        parts.stock.ready()
    assert snapshot(desk.folder) == before


def test_looking_at_a_new_workspace_makes_no_state(tmp_path: Path) -> None:
    """A missing database reads as an empty one."""
    make_workspace(tmp_path, ("shop.example",))
    before = snapshot(tmp_path)
    workspace = Workspace(folder=tmp_path, clock=VirtualClock(), say=hush)
    assert making.plan_generate(workspace).wanted == 2
    plan, calls = making.plan_post(workspace)
    assert (plan.post, calls) == (None, ())
    status = looking.read_status(workspace)
    assert (status.level.have, status.runs, status.posted_today) == (0, (), None)
    assert snapshot(tmp_path) == before


def test_a_run_that_fails_by_its_settings_is_recorded(desk: Desk) -> None:
    """The row was there before they were read."""
    settings = desk.folder / "lamplighter.toml"
    good = settings.read_text()
    settings.write_text(f"{good}\ntypo = 1\n")
    for run, job in ((making.run_generate, "generate"), (making.run_post, "post")):
        report = run(workspace_of(desk))
        assert (report.outcome, report.exit_code) == (Outcome.FAILED, 65), job
        assert "typo" in report.line
    with pytest.raises(ConfigError):
        looking.read_status(workspace_of(desk))
    settings.write_text(good)
    runs = looking.read_runs(workspace_of(desk), job="", limit=9)
    assert [(run.job, run.report and run.report.failure) for run in runs] == [
        ("post", FailureClass.CONFIG), ("generate", FailureClass.CONFIG)
    ]  # fmt: skip


@pytest.mark.parametrize(("content", "code"), [(None, 66), ("{", 65), ('{"brands": []}', 65)])
def test_a_run_without_a_good_catalog_is_recorded(desk: Desk, content: str | None, code: int) -> None:
    """Missing, broken or empty."""
    catalog = desk.folder / "brand-catalog.json"
    catalog.unlink()
    if content is not None:
        catalog.write_text(content)
    report = making.run_generate(workspace_of(desk))
    assert (report.outcome, report.exit_code) == (Outcome.FAILED, code)
    assert len(looking.read_runs(workspace_of(desk), job="generate", limit=9)) == 1


def test_a_brand_nobody_knows_is_said_with_those_that_are_known(desk: Desk) -> None:
    """In a run and in a dry run."""
    report = making.run_generate(workspace_of(desk), brand="wrenfld")
    assert report.exit_code == 66
    assert report.line == "brand 'wrenfld': it is not in the catalog; known are wrenfold, kirino"
    with pytest.raises(InputError, match="known are wrenfold, kirino"):
        making.plan_generate(workspace_of(desk), brand="wrenfld")


def test_a_shop_folder_that_is_missing_fails_with_drafts_that_say_so(desk: Desk) -> None:
    """Each brand is tried once."""
    report = making.run_generate(workspace_of(desk))
    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 66)
    assert "there is no such product list" in report.line
    assert looking.read_status(workspace_of(desk)).drafts == 2


def test_post_and_what_it_leaves(desk: Desk) -> None:
    """The folder publisher's post, the record, the log, the status."""
    desk.put()
    plan, calls = making.plan_post(workspace_of(desk))
    assert plan.post is not None
    assert any(call.endswith("preview.html") for call in calls)
    report = making.run_post(workspace_of(desk))
    assert (report.outcome, report.outputs) == (Outcome.PRODUCED, ("feature-0001-wrenfold",))
    assert (desk.folder / "state" / "folder_posted.jsonl").is_file()
    status = looking.read_status(workspace_of(desk))
    assert status.posted_today is not None
    assert status.posted_today.feature_id == "feature-0001-wrenfold"
    assert status.next_post_at == START.replace(hour=19, minute=30)
    (run,) = looking.read_runs(workspace_of(desk), job="post", limit=9)
    assert any("produced" in line for part in looking.read_log(workspace_of(desk), run.number) for line in part.lines)
    assert looking.find_run(workspace_of(desk), run.number) == run


def test_a_run_without_a_log_has_none(desk: Desk) -> None:
    """It may have been deleted; an unknown run is an error."""
    making.run_post(workspace_of(desk))
    shutil.rmtree(desk.folder / "state" / "logs")
    assert looking.read_log(workspace_of(desk), 1) == ()
    with pytest.raises(InputError, match="there is no such run"):
        looking.read_log(workspace_of(desk), 99)


def test_status_tells_of_skips_holds_and_troubles(desk: Desk) -> None:
    """What a person must know at a glance."""
    desk.states.skip("kirino", until=START + timedelta(days=2), reason="holiday")
    desk.put(hold=Reason(kind="hold", text="x", at=START))
    broken = desk.put()
    (broken.folder / "feature.json").unlink()
    status = looking.read_status(workspace_of(desk))
    assert status.skipped == ("kirino until 2026-05-06 12:00 UTC: holiday",)
    assert (status.held, status.level.have, len(status.level.troubles), status.holders) == (1, 0, 1, ())


def test_a_feature_that_is_going_out_is_not_to_be_touched(desk: Desk) -> None:
    """Until the next post has settled it."""
    item = desk.put()
    desk.journal.claim("2026-05-04-1930", item.id, generation=1, run=1)
    with opening.writing(workspace_of(desk)) as parts:
        with pytest.raises(InputError, match=r"it is going out for 2026-05-04-1930; lamplighter post settles it"):
            opening.refuse_busy(parts, item)
        parts.journal.published("2026-05-04-1930", make_receipt("s", item.id), generation=1)
        opening.refuse_busy(parts, item)


def test_a_draft_that_is_being_made_is_not_to_be_touched(desk: Desk) -> None:
    """While generate holds its lock; one that a dead run left may be dropped."""
    draft = desk.stock.new_draft("wrenfold")
    code = (
        "import sys; from pathlib import Path; from lamplighter.engine.lock import JobLock;"
        "from lamplighter.host.clock import SystemClock;"
        f"JobLock(Path({str(desk.folder / 'state/locks/generate')!r}), SystemClock()).acquire('generate');"
        "print('held', flush=True); sys.stdin.read()"
    )
    with opening.writing(workspace_of(desk)) as parts:
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            with pytest.raises(InputError, match="it is being made right now"):
                opening.refuse_busy(parts, draft)
            holder.communicate()
        opening.refuse_busy(parts, draft)


def test_times_are_told_in_the_workspaces_zone(desk: Desk) -> None:
    """A person reads their own clock."""
    settings = desk.folder / "lamplighter.toml"
    settings.write_text(settings.read_text().replace('zone = "UTC"', 'zone = "Asia/Tokyo"'))
    making.run_post(workspace_of(desk))
    (run,) = looking.read_runs(workspace_of(desk), job="", limit=1)
    assert run.started_at.isoformat() == "2026-05-04T21:00:00+09:00"
    status = looking.read_status(workspace_of(desk))
    assert status.next_post_at is not None
    assert status.next_post_at.isoformat() == "2026-05-05T19:30:00+09:00"


def test_our_expected_errors_are_all_one_kind() -> None:
    """The command line has one place that tells them."""
    assert all(issubclass(kind, LamplighterError) for kind in (ConfigError, InputError, UsageError))


@pytest.mark.parametrize("name", [os.fsdecode(b"od\xff"), "a\nb", "a\x1bb"])
def test_a_workspace_whose_path_is_no_plain_text_is_refused(name: str, tmp_path: Path) -> None:
    """At once, by every command, in one line, also through a link; nothing is made there."""
    folder = tmp_path / name
    folder.mkdir()
    (tmp_path / "link").symlink_to(name)
    for there in (folder / "new", folder, tmp_path / "link"):
        with pytest.raises(InputError, match="its path is not UTF-8 text") as caught:
            making.init(there, ())
        assert "\n" not in str(caught.value)
        with pytest.raises(InputError, match="its path is not UTF-8 text"):
            making.demo(there, VirtualClock(START), hush)
    assert list(folder.iterdir()) == []
    (folder / "lamplighter.toml").touch()
    with pytest.raises(InputError, match="move it or give it another name"):
        place.open_workspace(str(tmp_path / "link"), hush)


def test_two_workspaces_cannot_share_features_and_posts(desk: Desk, tmp_path: Path) -> None:
    """The second would take the first one's post for its own; one that was moved takes its state along."""
    state_dir = desk.folder / "state"
    claim_state(state_dir, desk.folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "lamplighter.toml").write_text(f'state_dir = "{state_dir}"\n')
    with pytest.raises(ConfigError, match=f"the workspace {desk.folder} keeps its features and posts here too"):
        claim_state(state_dir, other)
    (state_dir / "workspace").write_text("/a/workspace/that/was/moved/back")
    with pytest.raises(ConfigError, match=f"the workspace {desk.folder} keeps"):
        claim_state(state_dir, other)
    (desk.folder / "lamplighter.toml").rename(desk.folder / "lamplighter.toml.old")
    claim_state(state_dir, other)
    claim_state(state_dir, other)
    (desk.folder / "lamplighter.toml.old").rename(desk.folder / "lamplighter.toml")
    claim_state(state_dir, desk.folder)  # it lies in this one
