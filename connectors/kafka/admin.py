"""Provisioning: make the topics, or say exactly what is wrong with those that are there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import TOPICS, TopicSpec
from tables.errors import Misconfigured, Unavailable

_COMPARED = ("cleanup.policy", "max.message.bytes")


@dataclass(frozen=True, slots=True)
class Found:
    """A topic as the broker has it."""

    partitions: int
    config: Mapping[str, str]


async def connect(config: KafkaConfig) -> AIOKafkaAdminClient:
    """An admin client. Raises Unavailable("kafka")."""
    client = AIOKafkaAdminClient(bootstrap_servers=config.brokers, request_timeout_ms=config.request_timeout_ms)
    try:
        await client.start()
    except (KafkaError, OSError) as error:
        await client.close()
        raise Unavailable("kafka") from error
    return client


async def provision(config: KafkaConfig, *, create: bool) -> list[str]:
    """Create what is missing (with `create`) and verify everything; return the names created.

    Raises Misconfigured listing every topic that is missing or wrong and how to mend it, Unavailable("kafka").
    """
    client = await connect(config)
    try:
        found = await describe(client)
        missing = [spec for spec in TOPICS if spec.name not in found]
        if create and missing:
            await _create(client, missing, config)
            await _until_visible(client, {spec.name for spec in missing})
            found = await describe(client)
        problems = [line for spec in TOPICS for line in faults(spec, found.get(spec.name), config.partitions)]
    except KafkaError as error:
        raise Unavailable("kafka") from error
    finally:
        await client.close()
    if problems:
        raise Misconfigured("\n".join(problems))
    return [spec.name for spec in missing]


def faults(spec: TopicSpec, found: Found | None, routed: int) -> list[str]:
    """What is wrong with a topic, each line saying how to mend it; empty when it is right."""
    wanted = spec.partitions(routed)
    if found is None:
        return [f"{spec.name}: missing; run `python -m streams topics --create`"]
    if found.partitions != wanted:
        return [
            f"{spec.name}: has {found.partitions} partitions, {wanted} wanted. The count is fixed for life, because "
            f"keys decide which worker owns a user: set TWINSLUICE_PARTITIONS={found.partitions} if the whole "
            f"cluster was made so, else stop the workers, delete the topic and run `python -m streams topics --create`"
        ]
    return [
        f"{spec.name}: {name} is {found.config.get(name)!r}, {spec.config[name]!r} wanted; alter the topic's config"
        for name in _COMPARED
        if name in spec.config and found.config.get(name) != spec.config[name]
    ]


async def describe(client: AIOKafkaAdminClient) -> dict[str, Found]:
    """Our topics as they are on the broker."""
    ours = {spec.name for spec in TOPICS}
    names = sorted(ours & set(await client.list_topics()))
    if not names:
        return {}
    topics: list[dict[str, Any]] = await client.describe_topics(names)
    configs = await _configs(client, names)
    return {t["topic"]: Found(len(t["partitions"]), configs.get(t["topic"], {})) for t in topics}


async def _configs(client: AIOKafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    wanted = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    found: dict[str, dict[str, str]] = {}
    for response in await client.describe_configs(wanted):
        for _, _, _, name, entries in response.resources:
            found[name] = {entry[0]: entry[1] for entry in entries}
    return found


async def _create(client: AIOKafkaAdminClient, specs: list[TopicSpec], config: KafkaConfig) -> None:
    wanted = [
        NewTopic(
            name=spec.name,
            num_partitions=spec.partitions(config.partitions),
            replication_factor=config.replication,
            topic_configs=dict(spec.config),
        )
        for spec in specs
    ]
    response = await client.create_topics(wanted)
    for topic, code, *rest in response.topic_errors:
        if code not in (0, 36):  # 36: somebody else made it at the same time, it is verified next
            raise Misconfigured(f"{topic}: could not be created (error {code}: {rest[0] if rest else ''})")


async def _until_visible(client: AIOKafkaAdminClient, names: set[str]) -> None:
    for _ in range(100):
        if names <= set(await client.list_topics()):
            return
        await asyncio.sleep(0.05)
    raise Unavailable("kafka")
