"""What servers of a synthetic result were given, and what it says of TLS. All of it is made up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Callable

from result_fixture import edit_json, write_json, write_manifest

OLD, NEW = "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256 X25519", "TLSv1.3 TLS_AES_256_GCM_SHA384 X25519"


def give(path: Path, files: dict[str, str], config: str | None = "server.json") -> Path:
    """Puts files into a result as its run would have: beside plan.json, which lists them."""
    listed = []
    for name, text in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        listed.append({"path": name, "bytes": len(text.encode()), "sha256": digest})
    plan = json.loads((path / "plan.json").read_text())
    edit_json(
        path / "plan.json", files=listed, effective=plan["effective"] | {"server_config": config}
    )
    write_manifest(path)
    return path


def tls_of(kinds: dict[str, int], **told: Any) -> dict[str, Any]:
    """A sample's `tls`: both sides negotiated these; `told` is of the server."""
    side = {"on": True, "provider": "OpenSSL 3.0.16", "version_min": "1.2", "version_max": "1.3"}
    side |= {"ciphers": None, "groups": None, "alpn": "http/1.1", "tickets": True}
    return {"server": side | told | {"negotiated": kinds}, "client": side | {"negotiated": kinds}}


def speak(path: Path, of: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    """Gives each sample of a result the `tls` that `of` makes of it."""
    lines = []
    for line in (path / "results.jsonl").read_text().splitlines():
        result = json.loads(line)
        result |= {"tls": of(result), "cell": result["cell"] | {"tls": True}}
        (folder,) = path.glob(f"samples/{result['sample_id']}-*")
        write_json(folder / "result.json", result)
        lines.append(json.dumps(result) + "\n")
    (path / "results.jsonl").write_text("".join(lines))
    write_manifest(path)
    return path
