"""When something was measured, as a number that sorts."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any


def moment(text: Any) -> float:
    """Seconds since 1970 of an ISO 8601 time, UTC where it names no zone; minus infinity of what is
    none, which so comes first."""
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return -math.inf
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
