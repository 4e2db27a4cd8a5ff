"""How to reach the bus. Every limit names the failure that it prevents."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.kafka.topics import RECORD_BYTES_MAX


@dataclass(frozen=True, slots=True)
class KafkaConfig:
    """`brokers` is a comma-separated list of host:port."""

    brokers: str = "127.0.0.1:9092"
    partitions: int = 4
    replication: int = 1
    request_timeout_ms: int = 30_000  # a broker that hangs must not hang a batch for ever
    health_timeout_seconds: float = 1.5  # a probe that waits longer tells nothing in time
    linger_ms: int = 2  # small writes of one batch leave in one request
    request_bytes_max: int = RECORD_BYTES_MAX + 131_072  # room for headers: a dead letter is as large as its original
