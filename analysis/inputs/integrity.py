"""Whether a result directory's files are the ones that were written: manifest, seal, counts."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from analysis.inputs import files
from analysis.inputs.documents import Refusal, present, read_text
from analysis.inputs.sample import Sample


def check_seal(path: Path) -> bool:
    """Whether there is a manifest.sha256; it must then name the manifest that is there."""
    seal = path / files.SEAL
    if not present(seal):
        return False
    try:
        digest = files.sha256_of(path / files.MANIFEST)
    except FileNotFoundError:
        raise Refusal(path / files.MANIFEST, f"is missing, though {files.SEAL} names it") from None
    except OSError as error:
        raise Refusal(path / files.MANIFEST, f"cannot be read: {error.strerror}") from None
    if read_text(seal) != files.seal_of(digest):
        raise Refusal(
            path / files.MANIFEST,
            f"is not the file that {files.SEAL} names; one of them was edited",
        )
    return True


def check_manifest(
    path: Path, manifest: dict[str, Any] | None, own: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """Each listed input, that is what does not begin with one of `own`, must be there with its size
    and hash; returns them. Empty where there is no manifest."""
    if manifest is None:
        return {}
    try:
        entries = files.manifest_entries(manifest)
    except ValueError as error:
        raise Refusal(path / files.MANIFEST, str(error)) from None
    inputs = {name: entry for name, entry in sorted(entries.items()) if not name.startswith(own)}
    for name, entry in inputs.items():
        _check_file(path / name, entry)
    return inputs


def _check_file(path: Path, entry: dict[str, Any]) -> None:
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise Refusal(path, "is not a regular file, though the manifest lists it")
        if about.st_size != entry["bytes"]:
            raise Refusal(
                path,
                f"has {about.st_size} bytes, the manifest says {entry['bytes']}; cut off or edited",
            )
        if files.sha256_of(path) != entry["sha256"]:
            raise Refusal(path, "is not the file that the manifest lists (sha256 differs); edited")
    except FileNotFoundError:
        raise Refusal(path, "is missing, though the manifest lists it") from None
    except OSError as error:
        raise Refusal(path, f"cannot be read: {error.strerror}") from None


def check_count(path: Path, plan: dict[str, Any], samples: list[Sample]) -> None:
    """Raises Refusal unless every planned sample is there."""
    planned = plan.get("samples")
    if isinstance(planned, list) and len(planned) != len(samples):
        raise Refusal(
            path / "results.jsonl",
            f"holds {len(samples)} samples, plan.json has {len(planned)}; the run is not complete",
        )


def check_precision(path: Path, samples: list[Sample]) -> None:
    """Raises Refusal unless all histograms merge."""
    digits = {sample.service.significant_digits for sample in samples if sample.service}
    if len(digits) > 1:
        found = " and ".join(map(str, sorted(digits)))
        raise Refusal(path / "samples", f"has histograms of {found} digits, which do not merge")
