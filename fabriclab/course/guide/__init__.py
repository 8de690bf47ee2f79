"""The field guide to AI cluster networks, and NCCL (notebook 11)."""
