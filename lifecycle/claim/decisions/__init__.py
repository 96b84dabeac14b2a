"""What a claim needs next: pure functions of a snapshot."""
