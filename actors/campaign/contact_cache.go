package campaign

import (
	"slices"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// maxChunks is the maximum number of contact chunks in memory. A contact outside of these chunks takes two bytes.
const maxChunks = 8

// chunk is a sequence of contacts in memory, with the results of their eligibility checks.
type chunk struct {
	contacts   []domain.Contact
	zones      []string // zone of each contact, a key of windows; "": unknown
	invalid    []bool
	countries  []string // country of each phone number; "": none
	windows    map[string]calendar.Window
	dncMatches map[int]*dnc.Match // matches on do-not-call lists, by index
	used       int
}

// contactCache holds the chunks of contacts that were used last. Missing chunks are read from the store, one read at a time.
type contactCache struct {
	chunks   map[int]*chunk
	uses     int
	missing  map[int]bool
	reading  bool
	outdated []int           // chunks that changed during the read
	zones    *calendar.Zones // used by the reading task only
}

func newContactCache() contactCache {
	return contactCache{chunks: make(map[int]*chunk), missing: make(map[int]bool), zones: calendar.NewZones()}
}

// use returns the chunk of a contact and the contact's index in it. If the chunk is not in memory, use returns nil and
// marks the chunk to be read.
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

// at returns the same as use, but does not mark a missing chunk to be read.
func (b *contactCache) at(ordinal int) (*chunk, int) {
	return b.chunks[ordinal/domain.ChunkSize], ordinal % domain.ChunkSize
}

// startReading returns the indexes of the chunks to read now. It returns nil if none is needed or a read is in progress.
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

// endReading adds the chunks that were read and drops the least recently used ones. It ignores chunks that were invalidated
// during the read.
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

// invalidate drops the chunk that contains a changed contact.
func (b *contactCache) invalidate(ordinal int) {
	i := ordinal / domain.ChunkSize
	delete(b.chunks, i)
	if b.reading {
		b.outdated = append(b.outdated, i)
	}
}

// clear drops all chunks of contacts from memory.
func (b *contactCache) clear() {
	b.chunks = make(map[int]*chunk)
	clear(b.missing)
}

// phoneOf returns the number of a contact, or "" if its chunk is not in memory.
func (b *contactCache) phoneOf(ordinal int) string {
	if c, i := b.at(ordinal); c != nil && i < len(c.contacts) {
		return c.contacts[i].Phone
	}
	return ""
}
