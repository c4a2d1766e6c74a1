// Package dnc implements do-not-call lists: storage of millions of numbers in buckets, in-memory filters for
// lookups, scrub rules, and opt-out keywords. It does no I/O.
package dnc

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Buckets is the number of buckets into which each do-not-call list is divided. A list of ten million numbers has
// about 2,441 numbers in each bucket.
const Buckets = 4096

// maxOriginGroups is the number of origin groups in a bucket above which groups are merged.
const maxOriginGroups = 256

// ErrNumber is the error for a text that is not an E.164 number.
var ErrNumber = errors.New("not a number in E.164")

var errBucket = errors.New("dnc: a bucket's numbers cannot be read")

// PackNumber packs an E.164 number of at most 15 digits into an integer.
func PackNumber(e164 string) (uint64, error) {
	digits, plus := strings.CutPrefix(e164, "+")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || !plus || len(digits) > 15 || digits[0] == '0' {
		return 0, ErrNumber
	}
	return n, nil
}

// UnpackNumber converts an integer of PackNumber back to the E.164 number.
func UnpackNumber(n uint64) string { return "+" + strconv.FormatUint(n, 10) }

// mixBits hashes a number so that similar numbers have different bits in all positions (finalizer of SplitMix64).
func mixBits(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// BucketOf returns the index of the bucket that contains a packed number.
func BucketOf(n uint64) int { return int(mixBits(n) >> 52) } // the upper 12 bits

// Origin records how and when numbers came onto a do-not-call list.
type Origin struct {
	Source domain.DNCSource `json:"source"`
	At     time.Time        `json:"at"`
	CallID string           `json:"call_id,omitempty"` // call or message in which the person opted out
}

// Entry returns the API form of a number with this origin.
func (o Origin) Entry(e164 string) domain.DNCEntry {
	e := domain.DNCEntry{Phone: e164, Source: o.Source, CallID: o.CallID, CreatedAt: o.At}
	if strings.HasPrefix(o.CallID, string(domain.PrefixMessage)+"_") {
		e.CallID, e.MessageID = "", o.CallID
	}
	return e
}

// OriginGroup holds the numbers of a bucket that have the same origin.
type OriginGroup struct {
	Origin
	Numbers []byte `json:"numbers"` // ascending numbers, encoded as differences in varints
}

// Bucket is one of the stored parts of a do-not-call list. An emptied bucket stays in the store until its list is
// deleted, so that Edition always distinguishes old cached copies from the current bucket.
type Bucket struct {
	WorkspaceID string        `json:"workspace_id"`
	ListID      string        `json:"list_id"`
	Index       int           `json:"index"`
	Edition     uint64        `json:"edition"`
	Groups      []OriginGroup `json:"strata"`
	// Erased lists the entries of persons whose data was erased. They contain only the keyed hash of the number.
	Erased []ErasedEntry `json:"erased,omitempty"`
}

// ErasedEntry is an entry whose number was replaced by its keyed hash. The number is still on the do-not-call list.
type ErasedEntry struct {
	Source domain.DNCSource `json:"source"`
	At     time.Time        `json:"at"`
	Hash   string           `json:"hash"`
}

// Key returns the key of the bucket in the store.
func (b *Bucket) Key() domain.Key {
	return domain.Key{Kind: "dnc_bucket", Workspace: b.WorkspaceID, ID: b.ListID + "/" + sortableIndex(b.Index)}
}

// Indexes returns no indexes: buckets are listed by key prefix.
func (b *Bucket) Indexes() []string { return nil }

// Sort returns the index of the bucket as sortable text.
func (b *Bucket) Sort() string { return sortableIndex(b.Index) }

// sortableIndex formats an index with leading zeros, so that the text order is the numeric order.
func sortableIndex(index int) string {
	s := strconv.Itoa(index)
	return "0000"[:max(0, 4-len(s))] + s
}

// packNumbers encodes ascending numbers as varints of their differences.
func packNumbers(numbers []uint64) []byte {
	b := make([]byte, 0, 4*len(numbers)+4)
	last := uint64(0)
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n-last)
		last = n
	}
	return b
}

func unpackNumbers(b []byte, into []uint64) ([]uint64, error) {
	last := uint64(0)
	for len(b) > 0 {
		d, size := binary.Uvarint(b)
		if size <= 0 {
			return into, errBucket
		}
		last += d
		into, b = append(into, last), b[size:]
	}
	return into, nil
}

// Find returns the origin of a packed number. ok is false if the number is not listed. If the number has several
// origins, Find returns that of the first group, because opt-outs come first.
func (b *Bucket) Find(n uint64) (o Origin, ok bool, err error) {
	for _, s := range b.Groups {
		last, rest := uint64(0), s.Numbers
		for len(rest) > 0 && last < n {
			d, size := binary.Uvarint(rest)
			if size <= 0 {
				return o, false, errBucket
			}
			last, rest = last+d, rest[size:]
		}
		if last == n {
			return s.Origin, true, nil
		}
	}
	return o, false, nil
}

// FindErased returns the origin of an erased entry by the hash of its number.
func (b *Bucket) FindErased(hash string) (o Origin, ok bool) {
	for _, e := range b.Erased {
		if e.Hash == hash {
			return Origin{Source: e.Source, At: e.At}, true
		}
	}
	return o, false
}

// Erase replaces a number with its keyed hash. It returns false if the number was not listed.
func (b *Bucket) Erase(n uint64, hash string) (bool, error) {
	o, listed, err := b.Find(n)
	if err != nil || !listed {
		return false, err
	}
	if _, err = b.Remove(n, hash); err != nil {
		return false, err
	}
	b.Erased = append(b.Erased, ErasedEntry{Source: o.Source, At: o.At, Hash: hash})
	return true, nil
}

// Filter returns the in-memory filter of the bucket.
func (b *Bucket) Filter() (*Filter, error) {
	numbers, err := b.Numbers()
	if err != nil {
		return nil, err
	}
	f := NewFilter(b.Edition, numbers)
	for _, e := range b.Erased {
		if f.erased == nil {
			f.erased = make(map[string]bool, len(b.Erased))
		}
		f.erased[e.Hash] = true
	}
	return f, nil
}

// Numbers returns all numbers of the bucket in ascending order.
func (b *Bucket) Numbers() ([]uint64, error) {
	var all []uint64
	var err error
	for _, s := range b.Groups {
		if all, err = unpackNumbers(s.Numbers, all); err != nil {
			return nil, err
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Add adds numbers to the bucket and returns how many were new. A number that is already listed is added again only
// if o is an opt-out and the number has no opt-out.
func (b *Bucket) Add(numbers []uint64, o Origin) (added int, err error) {
	have, err := b.Numbers()
	if err != nil {
		return 0, err
	}
	fresh := slices.Clone(numbers)
	slices.Sort(fresh)
	fresh = slices.Compact(fresh)
	keep := fresh[:0]
	for _, n := range fresh {
		_, listed := slices.BinarySearch(have, n)
		switch {
		case !listed:
			added++
		case o.Source != domain.DNCOptOut:
			continue
		default:
			if was, _, errFind := b.findOptOut(n); errFind != nil || was {
				err = errors.Join(err, errFind)
				continue
			}
		}
		keep = append(keep, n)
	}
	if err != nil || len(keep) == 0 {
		return 0, err
	}
	for i := range b.Groups { // another part of the same import
		if s := &b.Groups[i]; s.Source == o.Source && s.CallID == o.CallID && s.At.Equal(o.At) {
			numbers, err := unpackNumbers(s.Numbers, keep)
			if err != nil {
				return 0, err
			}
			slices.Sort(numbers)
			s.Numbers = packNumbers(slices.Compact(numbers))
			return added, nil
		}
	}
	s := OriginGroup{Origin: o, Numbers: packNumbers(keep)}
	if o.Source == domain.DNCOptOut {
		b.Groups = append([]OriginGroup{s}, b.Groups...) // Find returns the first origin, and opt-outs take precedence
	} else {
		b.Groups = append(b.Groups, s)
	}
	return added, b.mergeGroups()
}

func (b *Bucket) findOptOut(n uint64) (listed bool, at int, err error) {
	for i, s := range b.Groups {
		if s.Source != domain.DNCOptOut {
			continue
		}
		only := Bucket{Groups: b.Groups[i : i+1]}
		if _, ok, errFind := only.Find(n); errFind != nil || ok {
			return ok, i, errFind
		}
	}
	return false, 0, nil
}

// mergeGroups merges groups with the same source if there are more than maxOriginGroups. A merged group has the
// origin of its last group. Opt-outs are not merged.
func (b *Bucket) mergeGroups() error {
	if len(b.Groups) <= maxOriginGroups {
		return nil
	}
	joined := make(map[domain.DNCSource]*OriginGroup)
	var kept []OriginGroup
	for _, s := range b.Groups {
		if s.Source == domain.DNCOptOut {
			kept = append(kept, s)
			continue
		}
		into := joined[s.Source]
		if into == nil {
			joined[s.Source] = &s
			continue
		}
		numbers, err := unpackNumbers(into.Numbers, nil)
		if err == nil {
			numbers, err = unpackNumbers(s.Numbers, numbers)
		}
		if err != nil {
			return err
		}
		slices.Sort(numbers)
		into.Origin, into.Numbers = s.Origin, packNumbers(slices.Compact(numbers))
	}
	for _, source := range []domain.DNCSource{domain.DNCAPI, domain.DNCImport} {
		if s := joined[source]; s != nil {
			kept = append(kept, *s)
		}
	}
	b.Groups = kept
	return nil
}

// Remove removes a number and the erased entry with its hash. It returns false if neither was in the bucket.
func (b *Bucket) Remove(n uint64, hash string) (bool, error) {
	before := len(b.Erased)
	b.Erased = slices.DeleteFunc(b.Erased, func(e ErasedEntry) bool { return e.Hash == hash })
	removed := len(b.Erased) < before
	var kept []OriginGroup
	for _, s := range b.Groups {
		numbers, err := unpackNumbers(s.Numbers, nil)
		if err != nil {
			return false, err
		}
		if i, ok := slices.BinarySearch(numbers, n); ok {
			removed = true
			numbers = slices.Delete(numbers, i, i+1)
			s.Numbers = packNumbers(numbers)
		}
		if len(numbers) > 0 {
			kept = append(kept, s)
		}
	}
	b.Groups = kept
	return removed, nil
}

// Entries returns the numbers greater than after in ascending order, each with its origin.
func (b *Bucket) Entries(after uint64) ([]domain.DNCEntry, error) {
	origins := make(map[uint64]Origin)
	var all []uint64
	for _, s := range b.Groups {
		numbers, err := unpackNumbers(s.Numbers, nil)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			if _, known := origins[n]; !known && n > after {
				origins[n] = s.Origin
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	out := make([]domain.DNCEntry, len(all))
	for i, n := range all {
		o := origins[n]
		out[i] = o.Entry(UnpackNumber(n))
	}
	return out, nil
}
