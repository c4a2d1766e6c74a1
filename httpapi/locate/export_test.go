package locate

// NewSmall is a Finder that keeps few ids.
func NewSmall(d Directory, shards, known, unknown int) *Finder {
	f := New(d, shards)
	f.knownMost, f.unknownMost = known, unknown
	return f
}

// Kept is how many ids are kept.
func (f *Finder) Kept() (known, unknown int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.young) + len(f.old), len(f.unknown)
}
