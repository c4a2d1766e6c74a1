package locate

// NewFinderWithLimits returns a Finder with other limits for the number of cached ids.
func NewFinderWithLimits(d Directory, shards, known, unknown int) *Finder {
	f := NewFinder(d, shards)
	f.maxKnown, f.maxUnknown = known, unknown
	return f
}

// CachedIDs returns the number of cached ids with a known workspace and of cached ids that the Directory does not know.
func (f *Finder) CachedIDs() (known, unknown int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.recent) + len(f.older), len(f.unknown)
}
