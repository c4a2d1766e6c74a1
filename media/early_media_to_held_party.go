package media

// Preview lets the peer of a held session hear the early media of another session: a ringback tone or an announcement.
// The early media replace the hold music from their first packet to their end. Audio and digits flow in this direction
// only, and the session counts none of this time as a Human span. The held session's recording continues, with the
// early media on the right channel. Preview ends like a Bridge, or when a Bridge begins.
func Preview(held, early *Session) (undo func()) { return connect(held, early, true) }
