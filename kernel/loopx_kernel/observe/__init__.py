"""What code sees outside: evidence files and test reports."""
