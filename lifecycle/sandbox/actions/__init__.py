"""What happens to things, whoever asks for it: the rules of the embedded GitHub, one file a subject."""
