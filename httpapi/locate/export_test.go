package locate

// NewFinderWithLimits returns a Finder that caches few ids.
func NewFinderWithLimits(d Directory, shards, known, unknown int) *Finder {
	f := NewFinder(d, shards)
	f.maxKnown, f.maxUnknown = known, unknown
	return f
}

// CachedIDs returns the number of cached ids with and without a workspace.
func (f *Finder) CachedIDs() (known, unknown int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.recent) + len(f.older), len(f.unknown)
}
