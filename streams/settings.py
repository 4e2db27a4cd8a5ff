"""Settings, from environment variables only; every one has a default that works on one machine, secrets apart."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.kafka.config import KafkaConfig
from connectors.model.openai_config import OpenaiConfig
from tables.errors import Misconfigured

PREFIX = "TWINSLUICE_"
SECRET_CHARS_MIN = 32  # a shorter HMAC key can be guessed


@dataclass(frozen=True, slots=True)
class Settings:
    """What a process is told. Names below with the prefix TWINSLUICE_ are the environment variables."""

    brokers: str
    redis: str
    milvus: str
    partitions: int
    replication: int
    data: Path
    api_host: str
    api_port: int
    worker_port: int
    worker_id: str
    jwt_secret: str
    jwks: str
    signing_secret: str
    batch_size: int
    embedder: str
    openai: OpenaiConfig | None  # None: the default extractor
    log_level: str


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in `environment` (default: the process's own). Raises Misconfigured naming the variable."""
    env = os.environ if environment is None else environment
    return Settings(
        brokers=env.get(f"{PREFIX}BROKERS", "127.0.0.1:9092"),
        redis=env.get(f"{PREFIX}REDIS", "redis://127.0.0.1:6379/0"),
        milvus=env.get(f"{PREFIX}MILVUS", "http://127.0.0.1:19530"),
        partitions=_whole(env, "PARTITIONS", 4, low=1, high=10_000),
        replication=_whole(env, "REPLICATION", 1, low=1, high=9),
        data=Path(env.get(f"{PREFIX}DATA", ".local/data")),
        api_host=env.get(f"{PREFIX}API_HOST", "127.0.0.1"),
        api_port=_whole(env, "API_PORT", 8080, low=0, high=65_535),
        worker_port=_whole(env, "WORKER_PORT", 8081, low=0, high=65_535),
        worker_id=env.get(f"{PREFIX}WORKER_ID", socket.gethostname()),
        jwt_secret=_secret(env, "JWT_SECRET"),
        jwks=env.get(f"{PREFIX}JWKS", ""),
        signing_secret=_secret(env, "SIGNING_SECRET"),
        batch_size=_whole(env, "BATCH", 1000, low=1, high=10_000),
        embedder=_one_of(env, "EMBEDDER", ("e5", "hash")),
        openai=_openai(env) if _one_of(env, "EXTRACTOR", ("extractive", "openai")) == "openai" else None,
        log_level=_one_of(env, "LOG_LEVEL", ("info", "debug", "warning", "error")),
    )


def kafka_config(settings: Settings) -> KafkaConfig:
    return KafkaConfig(settings.brokers, settings.partitions, settings.replication)


def require_signing(settings: Settings) -> str:
    """The signing secret. Raises Misconfigured when there is none: unsigned commands are never accepted."""
    if not settings.signing_secret:
        raise Misconfigured(f"{PREFIX}SIGNING_SECRET is not set: commands and deletes could not be verified")
    return settings.signing_secret


def _openai(env: Mapping[str, str]) -> OpenaiConfig:
    """The endpoint of the `openai` extractor. Raises Misconfigured: without one every turn would wait for ever."""
    for name in ("OPENAI_URL", "OPENAI_MODEL"):
        if not env.get(PREFIX + name):
            raise Misconfigured(f"{PREFIX}{name} is not set: {PREFIX}EXTRACTOR=openai needs it")
    return OpenaiConfig(
        url=env[f"{PREFIX}OPENAI_URL"],
        model=env[f"{PREFIX}OPENAI_MODEL"],
        key=env.get(f"{PREFIX}OPENAI_KEY", "").strip(),
        concurrency=_whole(env, "OPENAI_CONCURRENCY", 4, low=1, high=256),
        timeout_seconds=_whole(env, "OPENAI_TIMEOUT", 30, low=1, high=600),
    )


def _whole(env: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    raw = env.get(PREFIX + name, str(default))
    if not raw.isascii() or not raw.isdigit() or not low <= int(raw) <= high:
        raise Misconfigured(f"{PREFIX}{name} must be a whole number from {low} to {high}")
    return int(raw)


def _secret(env: Mapping[str, str], name: str) -> str:
    value = env.get(PREFIX + name, "")
    if value and len(value) < SECRET_CHARS_MIN:
        raise Misconfigured(f"{PREFIX}{name} is too short: at least {SECRET_CHARS_MIN} characters")
    return value


def _one_of(env: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    value = env.get(PREFIX + name, choices[0])
    if value not in choices:
        raise Misconfigured(f"{PREFIX}{name} must be one of {', '.join(choices)}")
    return value
