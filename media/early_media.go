package media

// Preview lets the far end of a session that is on Hold hear what another one sends before its answer (early media: the
// ringing of its network, an announcement), from the first packet on in place of the music, which sounds until then and
// again afterwards. Nothing goes the other way, neither sound nor digits, and nobody counts as a human. The recording of the
// held session goes on, with what is heard on the right. It ends as a Bridge does, or by one.
func Preview(held, early *Session) (undo func()) { return connect(held, early, true) }
