"""What kind of project this is: `platform.json` files, where they lie, which one fits, and its commands."""
