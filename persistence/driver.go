package persistence

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Errors of drivers and of the store. domain.ErrConflict and domain.ErrFenced mean that a commit changed nothing. After
// any other error of a commit, it is unknown whether the change was stored.
var (
	// ErrInUse says that another process uses the data directory.
	ErrInUse = errors.New("another process uses this data directory")
	// ErrFormat says that the data have a format that this program does not know.
	ErrFormat = errors.New("the data have a format that this version does not know")
	// ErrMasterKey says that the data belong to another master key.
	ErrMasterKey = errors.New("the store was created with another master key")
	// ErrUnavailable says that the store cannot be reached or has failed.
	ErrUnavailable = errors.New("the store is not available")
	// ErrDiskFull is a domain.ErrStoreFull. The free disk space is too small to write safely. Nothing was written.
	ErrDiskFull = fmt.Errorf("%w: too little space is left", domain.ErrStoreFull)
	// ErrClosed says that the driver was closed.
	ErrClosed = errors.New("the store is closed")
	// ErrMalformed says that a commit has a name or a size that no driver accepts. Nothing was written.
	ErrMalformed = errors.New("the commit is malformed")
)

// WholeStore is the shard in whose name a process commits if it owns all shards. It is also the name of the first shard
// in a store with several shards.
const WholeStore = "0"

// MaxValue is the maximum size of a value in bytes. A page of rows or a read of events ends after about PageBytes bytes.
// MaxPage is the maximum number of rows in a page.
const (
	MaxValue  = 16 << 20
	PageBytes = 4 << 20
	MaxPage   = 1000
)

// Driver is a raw store of rows, lists and event logs. Its methods may be called concurrently.
type Driver interface {
	// Commit applies c and returns when it is durable. domain.ErrFenced and domain.ErrConflict mean that nothing
	// was changed. After any other error, it is unknown whether c was applied.
	Commit(ctx context.Context, c Commit) (Result, error)
	// Get returns the value and version of a row, or domain.ErrNotFound.
	Get(ctx context.Context, k Key) (value []byte, version uint64, err error)
	// Scan returns one page of the rows of a table or of a list.
	Scan(ctx context.Context, r Range) (Page, error)
	// Events returns at most limit entries of a log with an offset above after, in order. It returns at least one
	// entry if there is any.
	Events(ctx context.Context, log string, after uint64, limit int) ([]LogEntry, error)
	// Tables returns the names of the tables that have rows and whose name has the suffix ending, in no particular
	// order. It may scan all tables, so it is for rare use.
	Tables(ctx context.Context, ending string) ([]string, error)
	// Claim makes token the owner of a shard. From then on the driver refuses commits of this shard with another token,
	// and commits of a process that claimed all shards earlier. On a store that several nodes share, Claim returns
	// domain.ErrFenced if the shard has a token with a higher epoch.
	Claim(ctx context.Context, shard, token string) error
	// ClaimAll makes token the owner of WholeStore and of every shard that was ever claimed, in one step. The ownership
	// lasts until the next claim of any shard. On a store that several nodes share, ClaimAll returns domain.ErrFenced if a
	// shard has a token with a higher epoch or is claimed concurrently.
	ClaimAll(ctx context.Context, token string) error
	// Healthy returns nil while commits can be expected to succeed, else the reason.
	Healthy() error
	// LastOffset returns the offset of the last entry of a log, or 0 if the log is empty.
	LastOffset(ctx context.Context, log string) (uint64, error)
	// Close waits for commits in progress and releases all resources.
	Close() error
}

// ShardedDriver is a driver that provides a driver for each shard, whose reads and health concern that shard only.
type ShardedDriver interface {
	Driver
	// ShardDriver returns the driver for the owner of one shard.
	ShardDriver(shard string) Driver
}

// Commit is one atomic, durable change. Either all of it is applied or nothing.
type Commit struct {
	// ID identifies the commit. A second commit with the same ID within ten minutes changes nothing and returns the
	// result of the first. With an empty ID, repetitions are not detected.
	ID          string
	Shard       string // the shard whose owner holds Token
	Token       string // compared for equality; "" for a shard that was never claimed
	Log         string // the log that Events are appended to
	Guards      []Guard
	Puts        []Put
	CounterAdds []CounterAdd
	Events      []Event
	DeleteLog   string // a log to be deleted with its counters; "": none
	// Reserved lets the commit use the disk space that is kept free for use when the disk is full.
	Reserved bool
	TrimUpTo uint64 // entries of Log up to this offset are deleted; the sequences of their subjects stay

	DeleteEvents   []uint64 // offsets of entries of Log to be deleted
	DeleteSubjects []string // subjects of Log whose sequences are deleted, so that their next event has sequence 1
}

// Key identifies a raw row. Neither field may contain a zero byte.
type Key struct{ Table, ID string }

// Guard makes a commit depend on the version of a row. Version 0 requires that the row does not exist.
type Guard struct {
	Key     Key
	Version uint64
}

// Put writes a row and its positions in lists. The driver removes the row from lists that Lists does not name.
type Put struct {
	Key   Key
	Value []byte   // nil: the row is deleted, also from its lists
	Lists []string // lists of Key.Table
	Sort  string   // the sort key within each list
}

// Event is an entry to be appended to the log of a commit.
type Event struct {
	Subject string
	Payload []byte
}

// Result contains the versions, offset and sequences that the driver assigned to a commit.
type Result struct {
	Versions  []uint64 // new version of each Put, in order: the previous version plus one; 0 for a deleted row
	Offset    uint64   // offset of the first event; the others follow without a gap
	Sequences []uint64 // sequence of each event, in order: counted per subject from 1
}

// LogEntry is a committed event in a log.
type LogEntry struct {
	Offset   uint64
	Sequence uint64
	Subject  string
	Payload  []byte
}

// Range selects rows of a table in the order of ids, or rows of a list in the order of Sort and id.
type Range struct {
	Table    string
	List     string // "": the table itself
	Prefix   string // of the id; for tables only
	From, To string // bounds of the id or Sort: From ≤ x < To; "": unbounded
	After    string // Position of the last row of the previous page; "": from the beginning
	Limit    int    // 1 to MaxPage
	Reverse  bool
}

// Row is one row of a page.
type Row struct {
	ID       string
	Position string // Range.After for the page that follows this row
	Value    []byte
	Version  uint64
}

// Page is a page of the rows in a range. More is set if further rows follow, also if PageBytes ended the page early.
type Page struct {
	Rows []Row
	More bool
}

// Check returns ErrMalformed for a commit that no driver accepts. Drivers call it before they write anything.
func (c Commit) Check() error {
	for _, s := range []string{c.ID, c.Shard, c.Token, c.Log, c.DeleteLog} {
		if strings.IndexByte(s, 0) >= 0 {
			return fmt.Errorf("%w: a zero byte in %q", ErrMalformed, s)
		}
	}
	for _, s := range c.DeleteSubjects {
		if strings.IndexByte(s, 0) >= 0 {
			return fmt.Errorf("%w: a zero byte in subject %q", ErrMalformed, s)
		}
	}
	for _, g := range c.Guards {
		if err := g.Key.check(); err != nil {
			return err
		}
	}
	for _, p := range c.Puts {
		if err := p.check(); err != nil {
			return err
		}
	}
	for _, a := range c.CounterAdds {
		if err := a.check(); err != nil {
			return err
		}
	}
	for _, e := range c.Events {
		if strings.IndexByte(e.Subject, 0) >= 0 {
			return fmt.Errorf("%w: a zero byte in subject %q", ErrMalformed, e.Subject)
		}
		if len(e.Payload) > MaxValue {
			return fmt.Errorf("%w: event of %d bytes, at most %d", ErrMalformed, len(e.Payload), MaxValue)
		}
	}
	return nil
}

func (k Key) check() error {
	if k.Table == "" || k.ID == "" || strings.IndexByte(k.Table, 0) >= 0 || strings.IndexByte(k.ID, 0) >= 0 {
		return fmt.Errorf("%w: key %q %q", ErrMalformed, k.Table, k.ID)
	}
	return nil
}

func (p Put) check() error {
	if err := p.Key.check(); err != nil {
		return err
	}
	if len(p.Value) > MaxValue {
		return fmt.Errorf("%w: %s %s has %d bytes, at most %d", ErrMalformed, p.Key.Table, p.Key.ID, len(p.Value), MaxValue)
	}
	if strings.IndexByte(p.Sort, 0) >= 0 {
		return fmt.Errorf("%w: a zero byte in sort %q", ErrMalformed, p.Sort)
	}
	for _, l := range p.Lists {
		if l == "" || strings.IndexByte(l, 0) >= 0 {
			return fmt.Errorf("%w: list %q", ErrMalformed, l)
		}
	}
	return nil
}

// Size estimates the size of a commit in bytes.
func (c Commit) Size() int {
	n := 64
	for _, p := range c.Puts {
		n += 64 + len(p.Value)
	}
	for _, a := range c.CounterAdds {
		n += 128 + len(a.Prefix)
	}
	for _, e := range c.Events {
		n += 64 + len(e.Payload)
	}
	return n
}

// Bounds returns the range of positions low ≤ position < high, in byte order, for the page that follows After. An empty
// high means that there is no upper bound.
func (r Range) Bounds() (low, high string) {
	low, high = r.From, r.To
	if r.Prefix != "" && r.List == "" {
		low = max(low, r.Prefix)
		if end := prefixEnd(r.Prefix); end != "" && (high == "" || end < high) {
			high = end
		}
	}
	switch {
	case r.After == "":
	case r.Reverse && (high == "" || r.After < high):
		high = r.After
	case !r.Reverse:
		low = max(low, r.After+"\x00")
	}
	return low, high
}

// prefixEnd returns the smallest string above all strings that begin with p, or "" if there is none.
func prefixEnd(p string) string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] < 0xff {
			return p[:i] + string([]byte{p[i] + 1})
		}
	}
	return ""
}

// ListPosition returns the position of a row in a list, which is sorted by sort and then by id.
func ListPosition(sort, id string) string { return sort + "\x00" + id }

// PageLimit returns Limit, limited to the range from 1 to MaxPage.
func (r Range) PageLimit() int { return min(max(r.Limit, 1), MaxPage) }
