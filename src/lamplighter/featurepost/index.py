"""What the database remembers of features: an index of the folders, and what must outlive them.

The folders are the truth; this is rebuilt from them. Three things it alone keeps: the highest number ever given (ids
never repeat), when a brand was last featured, and which products were, also after a person deletes the folder.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from lamplighter.errors import InputError
from lamplighter.featurepost.feature import Feature
from lamplighter.host.database import Database, Migration

MIGRATIONS = (
    Migration(
        concern="feature",
        number=1,
        statements=(
            """CREATE TABLE feature (
                account TEXT NOT NULL, id TEXT NOT NULL, number BIGINT NOT NULL, brand TEXT NOT NULL,
                title TEXT NOT NULL, caption TEXT NOT NULL, products TEXT NOT NULL,
                made_at DOUBLE PRECISION NOT NULL, generation BIGINT NOT NULL, PRIMARY KEY (account, id))""",
            "CREATE INDEX feature_by_number ON feature (account, number)",
            """CREATE TABLE feature_number (
                account TEXT NOT NULL PRIMARY KEY, highest BIGINT NOT NULL)""",
        ),
    ),
)
HIGHEST_NUMBER = 999_999_999


class Index:
    """The remembered features of one account."""

    def __init__(self, database: Database, account: str) -> None:
        """Use an open database."""
        self._database = database
        self._account = account

    def claim_number(self, *, floor: int) -> int:
        """Return a feature number above `floor` and above every number given before; it is never given again.

        Raises InputError, and claims nothing, when numbers have run out.
        """
        with self._database.transaction():
            row = self._database.row(
                """INSERT INTO feature_number (account, highest) VALUES (?, ? + 1)
                ON CONFLICT (account) DO UPDATE SET highest = CASE
                    WHEN CAST(feature_number.highest AS BIGINT) >= excluded.highest THEN feature_number.highest + 1
                    ELSE excluded.highest END
                RETURNING highest""",
                (self._account, floor),
            )
            number = int(row["highest"]) if row else floor + 1
            if number > HIGHEST_NUMBER:
                raise InputError(
                    "feature numbers",
                    f"the next one would be {number}, above {HIGHEST_NUMBER}, the highest there is",
                    "rename the feature folder that has so high a number",
                )
        return number

    def remember(self, feature: Feature) -> None:
        """Write or refresh what is remembered of a feature."""
        self._database.change(
            """INSERT INTO feature (account, id, number, brand, title, caption, products, made_at, generation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, id) DO UPDATE SET
            title = excluded.title, caption = excluded.caption WHERE feature.generation <= excluded.generation""",
            (
                self._account, feature.id, feature.number, feature.brand, feature.title, feature.caption,
                json.dumps([product.id for product in feature.products]), feature.made_at.timestamp(),
                feature.generation,
            ),
        )  # fmt: skip

    def known_ids(self) -> frozenset[str]:
        """Return the ids of all remembered features."""
        rows = self._database.rows("SELECT id FROM feature WHERE account = ?", (self._account,))
        return frozenset(str(row["id"]) for row in rows)

    def latest_captions(self, limit: int) -> tuple[str, ...]:
        """Return the captions of the newest remembered features, newest first."""
        rows = self._database.rows(
            "SELECT caption FROM feature WHERE account = ? ORDER BY number DESC LIMIT ?", (self._account, limit)
        )
        return tuple(str(row["caption"]) for row in rows)

    def last_featured(self) -> dict[str, int]:
        """Return the number of the newest feature of each brand slug that ever had one."""
        rows = self._database.rows(
            "SELECT brand, MAX(number) AS newest FROM feature WHERE account = ? GROUP BY brand", (self._account,)
        )
        with self._database.parsing():
            return {str(row["brand"]): int(row["newest"]) for row in rows}

    def newest_made_at(self, *, until: datetime) -> datetime | None:
        """Return when the newest remembered feature was made, those of a time to come apart."""
        row = self._database.row(
            "SELECT MAX(made_at) AS newest FROM feature WHERE account = ? AND made_at <= ?",
            (self._account, until.timestamp()),
        )
        return datetime.fromtimestamp(row["newest"], tz=UTC) if row and row["newest"] is not None else None

    def last_used(self, brand: str) -> tuple[int, ...]:
        """Return the ids of a brand's products that were ever featured.

        The least recently used comes first, within one feature the one that was shown first.
        """
        rows = self._database.rows(
            "SELECT products FROM feature WHERE account = ? AND brand = ? ORDER BY number", (self._account, brand)
        )
        used: dict[int, None] = {}
        with self._database.parsing():
            for row in rows:
                for product_id in json.loads(row["products"]):
                    used.pop(product_id, None)
                    used[product_id] = None
        return tuple(used)
