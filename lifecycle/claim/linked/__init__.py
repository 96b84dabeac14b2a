"""The linked task: the task of another tracker that stands for the claim's issue."""
