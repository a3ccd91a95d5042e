"""Language models behind one port: a wire each, a client, failover, and the offline model."""
