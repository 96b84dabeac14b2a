"""Projects: boards with fields, cards and views of them."""
