package persistence

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Errors of drivers and of the store. domain.ErrConflict and domain.ErrFenced
// leave no trace; after any other error of a commit its outcome is unknown.
var (
	// ErrInUse: another process holds the data directory.
	ErrInUse = errors.New("another process uses this data directory")
	// ErrFormat: the data were written in a format that this program does not know.
	ErrFormat = errors.New("the data have a format that this version does not know")
	// ErrMasterKey: the data belong to another master key.
	ErrMasterKey = errors.New("the store was created with another master key")
	// ErrUnavailable: the store cannot be reached, or has failed.
	ErrUnavailable = errors.New("the store is not available")
	// ErrDiskFull is a domain.ErrStoreFull: too little space is left to write safely;
	// nothing was written.
	ErrDiskFull = fmt.Errorf("%w: too little space is left", domain.ErrStoreFull)
	// ErrClosed: the driver was closed.
	ErrClosed = errors.New("the store is closed")
	// ErrMalformed: a name or a size that no driver takes; nothing was written.
	ErrMalformed = errors.New("the commit is malformed")
)

// Whole is the shard under which a process commits that has everything, and the
// first one of a store that is divided.
const Whole = "0"

// MaxValue bounds one value, PageBytes what a page or a read of events carries
// before it ends early, MaxPage the rows of one page.
const (
	MaxValue  = 16 << 20
	PageBytes = 4 << 20
	MaxPage   = 1000
)

// Driver is a raw store. All its methods may be called concurrently.
type Driver interface {
	// Commit applies c and returns when it is durable. Errors: domain.ErrFenced
	// and domain.ErrConflict leave no trace; otherwise the outcome is unknown.
	Commit(ctx context.Context, c Commit) (Result, error)
	// Get returns a row, or domain.ErrNotFound.
	Get(ctx context.Context, k Key) (value []byte, version uint64, err error)
	// Scan returns one page of a table or of a list.
	Scan(ctx context.Context, r Range) (Page, error)
	// Events returns entries of a log with offset > after, in order: at least
	// one if there is any, at most limit.
	Events(ctx context.Context, log string, after uint64, limit int) ([]LogEntry, error)
	// Tables are the names of the tables that have rows and end in a text, in no
	// order. It may look through all tables: for work that is done seldom.
	Tables(ctx context.Context, ending string) ([]string, error)
	// Claim makes token the owner of a shard: commits with another one are
	// refused from now on, and so are those of who claimed all shards before.
	// domain.ErrFenced: on a store that nodes share, where one with a higher
	// epoch has it.
	Claim(ctx context.Context, shard, token string) error
	// ClaimAll makes token the owner of Whole and of each shard that was ever
	// claimed, in one step, until another claim of any shard. domain.ErrFenced:
	// on a store that nodes share, where one with a higher epoch has a shard, or
	// took one in the same moment.
	ClaimAll(ctx context.Context, token string) error
	// Healthy is nil while commits can be expected to succeed.
	Healthy() error
	// Close waits for commits under way and releases everything.
	// LastOffset is the offset of the last entry of a log; 0: it has none.
	LastOffset(ctx context.Context, log string) (uint64, error)
	Close() error
}

// Parted is a driver that distinguishes shards also where it reads and says
// whether it is healthy.
type Parted interface {
	Driver
	// Part is the driver for the owner of one shard.
	Part(shard string) Driver
}

// Commit is one atomic, durable unit, or nothing.
type Commit struct {
	// ID names the commit, so that a second one with the same ID within ten
	// minutes answers as the first and changes nothing. Empty: no such memory.
	ID     string
	Shard  string // its owner holds Token
	Token  string // compared for equality; "" for a shard that nobody claimed
	Log    string // where Events go
	Guards []Guard
	Puts   []Put
	Adds   []Add
	Events []Event
	Forget string // a log that goes with all that counts it; "": none
	// Reserved: the commit may use the space that is kept back for a full disk.
	Reserved bool
	Trim     uint64 // entries of Log up to this offset go; the counts of their subjects stay

	DeleteEvents   []uint64 // offsets of entries of Log that go
	ForgetSubjects []string // subjects of Log whose counts go: the next event of one is its first
}

// Key names a raw row. Neither part holds a zero byte.
type Key struct{ Table, ID string }

// Guard demands that a row is at a version; 0: that it does not exist.
type Guard struct {
	Key     Key
	Version uint64
}

// Put sets a row and its places in lists. The driver removes places that the
// row no longer has.
type Put struct {
	Key   Key
	Value []byte   // nil: the row and its places go
	Lists []string // of Key.Table
	Sort  string   // the place within each
}

// Event is an entry to append to the commit's log.
type Event struct {
	Subject string
	Payload []byte
}

// Result is what a commit was given.
type Result struct {
	Versions  []uint64 // of Puts in their order: the version before plus one; 0 of a delete
	Offset    uint64   // of the first event; the others follow without a gap
	Sequences []uint64 // of Events in their order: per subject, from 1
}

// LogEntry is a committed event.
type LogEntry struct {
	Offset   uint64
	Sequence uint64
	Subject  string
	Payload  []byte
}

// Range is a stretch of a table in the order of ids, or of one of its lists in
// the order of Sort and then id.
type Range struct {
	Table    string
	List     string // "": the table itself
	Prefix   string // of the id; tables only
	From, To string // bounds of id or Sort: [From, To); "": open
	After    string // Place of the last row seen; "": from the beginning
	Limit    int    // 1 to MaxPage
	Reverse  bool
}

// Row is one row of a page.
type Row struct {
	ID      string
	Place   string // where it stands: Range.After of the following page
	Value   []byte
	Version uint64
}

// Page is a part of a range. It may end early (PageBytes) with More set.
type Page struct {
	Rows []Row
	More bool
}

// Check refuses what no driver takes, before anything is written.
func (c Commit) Check() error {
	for _, s := range []string{c.ID, c.Shard, c.Token, c.Log, c.Forget} {
		if strings.IndexByte(s, 0) >= 0 {
			return fmt.Errorf("%w: a zero byte in %q", ErrMalformed, s)
		}
	}
	for _, s := range c.ForgetSubjects {
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
	for _, a := range c.Adds {
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

// Size is roughly what the commit weighs in bytes.
func (c Commit) Size() int {
	n := 64
	for _, p := range c.Puts {
		n += 64 + len(p.Value)
	}
	for _, a := range c.Adds {
		n += 128 + len(a.Head)
	}
	for _, e := range c.Events {
		n += 64 + len(e.Payload)
	}
	return n
}

// Bounds are the places [low, high) that a range covers, After included; high
// "" is open. Ids and places are ordered bytewise.
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

// prefixEnd is the smallest string above all that begin with p; "" if none is.
func prefixEnd(p string) string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] < 0xff {
			return p[:i] + string([]byte{p[i] + 1})
		}
	}
	return ""
}

// Place is where a row of a list stands.
func Place(sort, id string) string { return sort + "\x00" + id }

// Clamp bounds a limit to 1 … MaxPage.
func (r Range) Clamp() int { return min(max(r.Limit, 1), MaxPage) }
