package redis

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/callboard/callboard/persistence"
)

// The ledger is what this process knows of Redis's history, on its own disk:
// each commit before it is sent, and its number before it is acknowledged. A
// Redis that lacks acknowledged commits, because a replica was promoted that
// had not seen them, is given them again in their order. Two files take turns,
// so that the last ledgerBytes at least are known.

const (
	ledgerBytes = 64 << 20 // of one file
	maxEntry    = 64 << 20
)

// The kinds of entries.
const (
	entryHeader  = 'h' // the install's id
	entryIntent  = 'i' // a commit that is about to be sent: id, arguments
	entryClaim   = 'c' // a claim that is about to be sent: id, arguments
	entryAll     = 'w' // a claim of all shards that is about to be sent: id, arguments
	entryAck     = 'a' // id, number
	entryRefused = 'r' // id
)

type ledger struct {
	mu      sync.Mutex
	dir     string
	file    *os.File // nil before begin, and where it could not be opened anew
	size    int64    // of its whole entries
	torn    bool     // behind them stands a part of one
	most    int64    // that a file may hold until the next one is begun
	install string
}

// past is a commit as the ledger has it.
type past struct {
	id     string
	kind   byte // entryIntent, entryClaim or entryAll
	args   []string
	number uint64 // 0: whether it is done is not known
}

// shard is the one in whose history it stands.
func (p past) shard() string {
	switch {
	case p.kind == entryClaim && len(p.args) > 0:
		return p.args[0]
	case p.kind == entryIntent && len(p.args) > 1:
		return p.args[1]
	}
	return persistence.Whole
}

// openLedger reads a folder's ledger; highest is the last number that was
// acknowledged, by shard.
func openLedger(dir string) (l *ledger, highest map[string]uint64, err error) {
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("redis: ledger: %w", err)
	}
	l = &ledger{dir: dir, most: ledgerBytes}
	done, err := l.read()
	if err != nil {
		return nil, nil, err
	}
	highest = make(map[string]uint64)
	for _, p := range done {
		if shard := p.shard(); p.number > highest[shard] {
			highest[shard] = p.number
		}
	}
	return l, highest, nil
}

func (l *ledger) path(name string) string { return filepath.Join(l.dir, name) }

// openFile opens the current file for an install; another one's ledger is refused.
func (l *ledger) openFile(install string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.install != "" && l.install != install {
		return fmt.Errorf("%w: %s belongs to another Redis; move it away if that one is given up", errLost, l.dir)
	}
	l.install = install
	return l.open()
}

// open appends to the current file, which gets a header where it is new.
func (l *ledger) open() error {
	f, err := os.OpenFile(l.path("current"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("redis: ledger: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size, l.torn = f, info.Size(), false
	if l.size > 0 {
		return nil
	}
	if err = l.append(entryHeader, []string{l.install}); err != nil {
		return err
	}
	return errors.Join(f.Sync(), syncDir(l.dir))
}

func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// append writes one entry: length, checksum, kind, texts. Nothing is written
// behind a part of an entry: it would never be read.
func (l *ledger) append(kind byte, texts []string) error {
	if err := l.whole(); err != nil {
		return err
	}
	body := []byte{kind}
	for _, t := range texts {
		body = binary.AppendUvarint(body, uint64(len(t)))
		body = append(body, t...)
	}
	entry := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+len(body)), uint32(len(body))) //nolint:gosec // bounded by the size of a commit
	entry = binary.LittleEndian.AppendUint32(entry, crc32.ChecksumIEEE(body))
	n, err := l.file.Write(append(entry, body...))
	if err != nil {
		l.torn = n > 0
		return errors.Join(fmt.Errorf("redis: ledger: %w", err), l.whole())
	}
	l.size += int64(n)
	return nil
}

// whole takes back what was written of an entry that could not be written.
func (l *ledger) whole() error {
	if !l.torn {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return fmt.Errorf("redis: ledger: %w", err)
	}
	l.torn = false
	return nil
}

// note writes entries; sync says whether they must survive a power cut before
// it returns.
func (l *ledger) note(sync bool, write func(add func(kind byte, texts ...string) error) error) error {
	l.mu.Lock()
	var err error
	if l.file == nil {
		err = l.open()
	}
	if err == nil {
		err = write(func(kind byte, texts ...string) error { return l.append(kind, texts) })
	}
	f := l.file
	if err == nil && l.size >= l.most {
		err = l.turn()
	}
	l.mu.Unlock()
	if err != nil || !sync {
		return err
	}
	if err = f.Sync(); err != nil && !errors.Is(err, os.ErrClosed) { // a file that was turned is synced
		return fmt.Errorf("redis: ledger: %w", err)
	}
	return nil
}

// turn begins another file and forgets the one before the last. What goes wrong
// is tried again with the next entries; until then they go where they went.
func (l *ledger) turn() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("redis: ledger: %w", err)
	}
	_ = l.file.Close() // all of it is on the disk
	l.file = nil
	if err := os.Rename(l.path("current"), l.path("before")); err != nil {
		return errors.Join(fmt.Errorf("redis: ledger: %w", err), l.open())
	}
	return l.open()
}

func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return errors.Join(l.file.Sync(), l.file.Close())
}

// read returns what both files hold, in the order of sending, without what was
// refused. A torn end is where a file ends.
func (l *ledger) read() ([]past, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []past
	at := make(map[string]int)
	for _, name := range []string{"before", "current"} {
		f, err := os.Open(l.path(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("redis: ledger: %w", err)
		}
		whole, err := entries(bufio.NewReaderSize(f, 1<<20), func(kind byte, texts []string) {
			switch kind {
			case entryHeader:
				l.install = texts[0]
			case entryIntent, entryClaim, entryAll:
				at[texts[0]] = len(list)
				list = append(list, past{id: texts[0], kind: kind, args: texts[1:]})
			case entryAck:
				if i, known := at[texts[0]]; known && len(texts) == 2 {
					list[i].number, _ = strconv.ParseUint(texts[1], 10, 64)
				}
			case entryRefused:
				if i, known := at[texts[0]]; known {
					list[i].args = nil
				}
			}
		})
		if err == nil && name == "current" && l.file == nil { // what follows a torn entry would never be read
			err = os.Truncate(l.path(name), whole)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("redis: ledger: %w", err)
		}
	}
	return slices.DeleteFunc(list, func(p past) bool { return p.args == nil }), nil
}

// entries calls each with the entries that are whole and returns their length.
func entries(r io.Reader, each func(kind byte, texts []string)) (whole int64, err error) {
	for {
		var head [8]byte
		if _, err = io.ReadFull(r, head[:]); err != nil {
			return whole, ended(err)
		}
		n := binary.LittleEndian.Uint32(head[:4])
		if n == 0 || n > maxEntry {
			return whole, nil
		}
		body := make([]byte, n)
		if _, err = io.ReadFull(r, body); err != nil {
			return whole, ended(err)
		}
		if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(head[4:]) {
			return whole, nil
		}
		var texts []string
		for rest := body[1:]; len(rest) > 0; {
			size, k := binary.Uvarint(rest)
			if k <= 0 || size > uint64(len(rest)-k) { //nolint:gosec // never negative
				return whole, nil
			}
			texts = append(texts, string(bytes.Clone(rest[k:k+int(size)]))) //nolint:gosec // within the entry
			rest = rest[k+int(size):]                                       //nolint:gosec // within the entry
		}
		if len(texts) > 0 {
			each(body[0], texts)
		}
		whole += int64(8 + len(body))
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// texts are a script's arguments as it will see them.
func texts(args []any) []string {
	out := make([]string, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case string:
			out[i] = a
		case []byte:
			out[i] = string(a)
		default:
			out[i] = fmt.Sprint(a)
		}
	}
	return out
}
