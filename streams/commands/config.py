"""Settings of the bus from the settings of the process, without importing what `streams.parts` imports."""

from __future__ import annotations

from connectors.kafka.config import KafkaConfig
from streams.settings import Settings


def kafka_config(settings: Settings) -> KafkaConfig:
    return KafkaConfig(settings.brokers, settings.partitions, settings.replication)
