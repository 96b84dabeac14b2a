"""Which stage a session is at: markers, tools, words."""
