"""The `loopx` command: parse, call one method of the façade, print."""
