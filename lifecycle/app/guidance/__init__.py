"""What a session is told when it starts or was compacted: one message of all systems, prepared ahead."""
