"""Language models behind the `LLM` port: one module a wire, one a client, failover, and models that need no network."""
