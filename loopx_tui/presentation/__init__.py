"""From a view's rows to cells: pure, with no widget in sight."""
