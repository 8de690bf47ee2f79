"""What makes files for the repository; nothing here is in the wheel."""
