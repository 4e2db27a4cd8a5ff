"""Kafka's jars: fetched once per user by jgo from the pinned coordinates, checked against the committed hashes.

`python -m deploy.local.jars FOLDER` fetches them (a process of its own, so that calling it off ends it at once).
The coordinates are complete: a resolver left to itself takes versions managed in log4j's parent, among them an old
kafka-clients, and the broker dies at its start. So each artifact is taken as it is named and nothing is resolved.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.local.errors import JarsUnavailable, LocalError

if TYPE_CHECKING:
    from jgo.maven import Artifact

VERSION = "4.4.0"
THREADS = 8
ATTEMPTS = 3
HTTP_SECONDS = 30
_HERE = Path(__file__).resolve().parent


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """This user's cache of what the local engine fetches or makes once."""
    home = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME") or Path.home()) / ".cache"
    return Path(home) / "twinsluice"


def jars_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the jars are, or will be; TWINSLUICE_KAFKA_JARS names a folder of them for machines without a network."""
    given = environment.get("TWINSLUICE_KAFKA_JARS")
    return Path(given) if given else cache_folder(environment) / f"kafka-{VERSION}"


def are_there(folder: Path) -> bool:
    """Whether the folder has every jar. It appears in one step after the check of all hashes, so names are enough."""
    return all((folder / name).is_file() for name in expected())


def expected() -> dict[str, str]:
    """The sha256 of every jar, by file name."""
    lines = (_HERE / "kafka-jars.sha256").read_text().split("\n")
    return {name: digest for digest, name in (line.split() for line in lines if line)}


def coordinates() -> list[tuple[str, str, str]]:
    """Group, artifact and version of every jar."""
    lines = (_HERE / "kafka-coordinates.txt").read_text().split("\n")
    return [_coordinate(line) for line in lines if line and not line.startswith("#")]


def fetch(folder: Path, say: Callable[[str], None]) -> None:
    """Makes the folder with all jars in one step; a second fetch of the same folder waits and finds them there.

    JarsUnavailable when one cannot be had or is not the expected one; then there is no folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if are_there(folder):
            return
        partial = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        jars = partial / "jars"
        jars.mkdir(parents=True)
        _fetch_all(partial / "repository", jars, say)
        shutil.rmtree(folder, ignore_errors=True)
        jars.rename(folder)
        shutil.rmtree(partial)


def _fetch_all(repository: Path, jars: Path, say: Callable[[str], None]) -> None:
    from jgo.maven import MavenContext  # half a second to import, and only this process needs it

    context = MavenContext(repo_cache=repository, local_repos=[], timeout=HTTP_SECONDS)
    hashes = expected()
    artifacts = [
        context.project(group, artifact).at_version(version).artifact() for group, artifact, version in coordinates()
    ]
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            fetched = [pool.submit(_fetch_one, artifact, jars, hashes) for artifact in artifacts]
            for count, future in enumerate(as_completed(fetched), 1):
                future.result()
                if count % 9 == 0:
                    say(f"{count} of {len(artifacts)} jars are there")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _fetch_one(artifact: Artifact, jars: Path, hashes: Mapping[str, str]) -> None:
    name = artifact.filename
    for attempt in range(1, ATTEMPTS + 1):
        try:
            path = artifact.resolve()
            break
        except (OSError, RuntimeError) as error:
            if artifact.cached_path is not None:
                artifact.cached_path.unlink(missing_ok=True)  # what came before the connection broke
            if attempt == ATTEMPTS:
                raise JarsUnavailable(f"{name} could not be fetched: {error}") from error
            time.sleep(attempt)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != hashes.get(name):
        raise JarsUnavailable(f"{name} is not the expected file: its sha256 is {digest}, not {hashes.get(name)}")
    path.rename(jars / name)


def _coordinate(line: str) -> tuple[str, str, str]:
    group, artifact, version = line.strip().split(":")
    return group, artifact, version


def main(folder: str) -> int:
    """Fetches into the folder; progress and the reason of a failure go to standard output."""
    for variable in ("SSL_CERT_FILE", "PIP_CERT"):  # where a network has its own certificates, one setting is enough
        if given := os.environ.get(variable):
            os.environ.setdefault("REQUESTS_CA_BUNDLE", given)
    try:
        fetch(Path(folder), lambda progress: print(progress, flush=True))
    except (LocalError, OSError) as error:
        print(error, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
