"""Between the socket and the two halves: connections, log, tokens, the application."""
