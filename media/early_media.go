package media

// Preview lets the peer of a session that is on Hold hear the early media of another session: the ringback tone of its network,
// or an announcement. The early media replace the music from their first packet until their end. Neither audio nor digits go the
// other way, and Human does not count the time. The recording of the held session goes on, with the early media on the right.
// Preview ends as a Bridge does, or by one.
func Preview(held, early *Session) (undo func()) { return connect(held, early, true) }
