"""What an open pull request goes through: opened, mentioned, reviewed, looked at again."""
