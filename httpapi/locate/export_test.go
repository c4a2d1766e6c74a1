package locate

// NewSmall is a Finder that keeps few ids.
func NewSmall(d Directory, shards, known, unknown int) *Finder {
	f := NewFinder(d, shards)
	f.maxKnown, f.maxUnknown = known, unknown
	return f
}

// Kept is how many ids are kept.
func (f *Finder) Kept() (known, unknown int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.recent) + len(f.older), len(f.unknown)
}
