"""Which hosts the work of our own jobs needs."""

from __future__ import annotations

import contextlib
from urllib.parse import urlsplit

from lamplighter.config.settings import Settings
from lamplighter.errors import LamplighterError
from lamplighter.featurepost import generate
from lamplighter.featurepost.catalog import CATALOG_FILE, read_catalog
from lamplighter.host.online import Host

_PORTS = {"http": 80, "https": 443}


def list_hosts(job: str, settings: Settings) -> tuple[Host, ...] | None:
    """Return the shops that a job asks, None when it needs no network: all shops are folders, or it posts into one."""
    if job != generate.JOB:
        return None
    hosts: list[Host] = []
    with contextlib.suppress(LamplighterError, ValueError):  # the work itself says what is wrong with the catalog
        for brand in read_catalog(settings.workspace_dir / CATALOG_FILE):
            address = urlsplit(brand.shop)
            if address.hostname:
                hosts.append(Host(name=address.hostname, port=address.port or _PORTS.get(address.scheme, 443)))
    return tuple(dict.fromkeys(hosts)) or None
