"""What kind of project this is: `platform.json` files, where they are, which one fits, its commands."""
