"""The knobs: what is documented nowhere or twice, what differs between accounts, and Meta's slow truths."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import get_type_hints

REPUBLISH_MODES = ("9007", "24", "100", "duplicate")
CAPTION_UNITS = ("utf16", "code_points")
HASHTAG_MODES = ("error", "drop")
OUTAGES = ("", "objects", "all")
DEAD_FORMS = ("190", "190-0", "100")
STATUS_FORMS = ("full", "short", "text_only")
SIGN_INS = ("grant", "deny")
_CHOICES = {
    "republish_mode": REPUBLISH_MODES,
    "caption_unit": CAPTION_UNITS,
    "hashtag_mode": HASHTAG_MODES,
    "read_outage": OUTAGES,
    "dead_token_form": DEAD_FORMS,
    "error_status_form": STATUS_FORMS,
    "sign_in": SIGN_INS,
}


@dataclass(slots=True, kw_only=True)
class Knobs:
    """All may be turned at any time; seconds are of the simulator's clock unless a name ends in `_real_s`."""

    republish_mode: str = "9007"
    """Second publish of a container: 9007/2207027, 24/2207006, a bare #100, or "duplicate": posted again."""
    quota_total: int = 100
    """Posts in 24 h; Meta's papers say 25, 50 and 100."""
    containers_a_day: int = 400
    processing_s: float = 2.0
    """How long a container is IN_PROGRESS."""
    container_life_s: float = 86_400.0
    reject_unready_children: bool = False
    """Refuse a carousel of unfinished children (9007/2207027) instead of leaving it IN_PROGRESS."""
    stale_status_s: float = 0.0
    """After a publish, a container still says FINISHED for so long."""
    list_lag_s: float = 0.0
    """After a publish, the media list omits the post for so long."""
    quota_lag_s: float = 0.0
    """After a publish, quota_usage omits it for so long."""
    object_lag_s: float = 0.0
    """After a publish, GET of the media id answers 100/33 for so long."""
    read_outage: str = ""
    """100/33 on GET of containers and media ("objects"), or on every read of an account ("all"); writes work."""
    error_status_form: str = "full"
    """Of a failed container: "full" or "short" words, or "text_only": status without status_code."""
    caption_unit: str = "utf16"
    hashtag_cap: int = 30
    hashtag_mode: str = "error"
    """More hashtags than the cap: 100/2207040, or "drop": posted without any caption."""
    mention_cap: int = 20
    redirects_refused: bool = True
    extension_needed: bool = True
    robots_obeyed: bool = True
    png_accepted: bool = False
    """Some PNGs are accepted in practice; the documents say JPEG only."""
    ratio_tolerance: float = 0.01
    fetch_timeout_real_s: float = 10.0
    proof_needed: bool = False
    """Facebook's host demands appsecret_proof."""
    scope_status: int = 403
    """HTTP status of a missing permission (#200): 403 or 400."""
    dead_token_form: str = "190"
    """An expired or revoked token on Instagram's host: 190 with its subcode, with subcode 0, or IGApiException 100."""
    refresh_keeps_string: bool = False
    refresh_ends_old: bool = False
    refresh_needs_parameter: bool = False
    """Refresh and exchange take the token as the documented parameter only, not from the header."""
    data_wrapped: bool = False
    """/me and the code exchange answer {"data": [{…}]}, as Meta's pages show, instead of the bare object."""
    sign_in: str = "grant"
    """What the person at the sign-in page does: "grant" or "deny"."""
    usage_percent: int = 3
    """What the usage headers say, unless calls_an_hour says more."""
    calls_an_hour: int = 0
    """Calls of one account in an hour before 80002; 0 is no limit."""
    libraries_banned: bool = True
    """Refuse default User-Agents of HTTP libraries with 403 and "error code: 1010"."""
    newest_version: int = 26

    def turn(self, name: str, value: str) -> None:
        """Set one knob from text; raise ValueError that names what is possible."""
        kinds = get_type_hints(Knobs)
        if name not in kinds:
            raise ValueError(f"knob {name}: there is none of that name; there are {', '.join(sorted(kinds))}")
        choices = _CHOICES.get(name)
        if choices and value not in choices:
            raise ValueError(f"knob {name}: {value!r} is none of {', '.join(map(repr, choices))}")
        setattr(self, name, _parse(name, kinds[name], value))

    def shown(self) -> dict[str, str | int | float | bool]:
        """Return all knobs by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def _parse(name: str, kind: type, value: str) -> str | int | float | bool:
    if kind is bool:
        if value.lower() not in {"yes", "no", "true", "false", "1", "0"}:
            raise ValueError(f"knob {name}: {value!r} is neither yes nor no")
        return value.lower() in {"yes", "true", "1"}
    try:
        return float(value) if kind is float else int(value) if kind is int else value
    except ValueError:
        raise ValueError(f"knob {name}: {value!r} is no number") from None
