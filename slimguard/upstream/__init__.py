"""The edge towards the servers: transports, exact capture, one supervisor a server."""
