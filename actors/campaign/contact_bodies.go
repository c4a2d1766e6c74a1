package campaign

import (
	"slices"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// maxChunks is the number of chunks in memory: of all other contacts the queue has two bytes each.
const maxChunks = 8

// chunk is a run of contacts in memory, with the assessment of their numbers.
type chunk struct {
	contacts   []domain.Contact
	zones      []string // keys of windows; "": unknown
	invalid    []bool
	countries  []string // of the numbers; "": none
	windows    map[string]calendar.Window
	dncMatches map[int]*dnc.Match // entries of do-not-call lists
	used       int
}

// contactCache caches the chunks that were used last. Missing ones are read from the store, one reading at a time.
type contactCache struct {
	chunks   map[int]*chunk
	uses     int
	missing  map[int]bool
	reading  bool
	outdated []int           // chunks that changed during the reading
	zones    *calendar.Zones // only the reading uses it
}

func newContactCache() contactCache {
	return contactCache{chunks: make(map[int]*chunk), missing: make(map[int]bool), zones: calendar.NewZones()}
}

// use is the chunk of a contact, and the contact's index in it. A chunk that is not in memory is nil, and is read next.
func (b *contactCache) use(ordinal int) (*chunk, int) {
	c, i := b.at(ordinal)
	if c == nil {
		b.missing[ordinal/domain.ChunkSize] = true
		return nil, i
	}
	b.uses++
	c.used = b.uses
	return c, i
}

// at is like use, but neither counts nor reads.
func (b *contactCache) at(ordinal int) (*chunk, int) {
	return b.chunks[ordinal/domain.ChunkSize], ordinal % domain.ChunkSize
}

// startReading returns the chunks to read now; nil: none, or a reading is under way.
func (b *contactCache) startReading() []int {
	if b.reading || len(b.missing) == 0 {
		return nil
	}
	var indexes []int
	for i := range b.missing {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	b.reading = true
	return indexes[:min(len(indexes), maxChunks/2)]
}

// endReading takes the chunks that were read, except outdated ones, and drops those used longest ago.
func (b *contactCache) endReading(read map[int]*chunk) {
	b.reading = false
	for _, i := range b.outdated {
		delete(read, i)
	}
	b.outdated = nil
	for i, c := range read {
		delete(b.missing, i)
		b.uses++
		c.used = b.uses
		b.chunks[i] = c
	}
	for len(b.chunks) > maxChunks {
		oldest, at := -1, 0
		for i, c := range b.chunks {
			if oldest < 0 || c.used < at {
				oldest, at = i, c.used
			}
		}
		delete(b.chunks, oldest)
	}
}

// invalidate drops the chunk of a contact that has changed.
func (b *contactCache) invalidate(ordinal int) {
	i := ordinal / domain.ChunkSize
	delete(b.chunks, i)
	if b.reading {
		b.outdated = append(b.outdated, i)
	}
}

// clear drops all chunks.
func (b *contactCache) clear() {
	b.chunks = make(map[int]*chunk)
	clear(b.missing)
}

// phoneOf is the number of a contact in memory; "": it is not there.
func (b *contactCache) phoneOf(ordinal int) string {
	if c, i := b.at(ordinal); c != nil && i < len(c.contacts) {
		return c.contacts[i].Phone
	}
	return ""
}
