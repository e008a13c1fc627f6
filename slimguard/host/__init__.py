"""The edge towards the host: streams, the three tools, both eras of the protocol."""
