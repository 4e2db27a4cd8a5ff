"""The real parts on one machine, from package clients alone: Kafka, Redis, Milvus Lite, and the engine on top of them.

`engine.LocalEngine` is the door; `python -m deploy.local` is its command line, `deploy/demo` its show. A module per
part says how that part is found, started and known to be ready; `run`, `process`, `leftovers` and `watchdog` see to it
that nothing which was started here outlives its owner.
"""
