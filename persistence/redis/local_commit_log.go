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

// The ledger records this process's commits on its own disk: each commit before it is sent to Redis, and its number
// before it is acknowledged. If Redis lacks acknowledged commits because a replica was promoted that did not have
// them, the driver replays them in order. The ledger has two files that take turns, so at least the entries of the
// last ledgerBytes are available.

const (
	ledgerBytes = 64 << 20 // size at which a file is replaced by the next one
	maxEntry    = 64 << 20
)

// The kinds of ledger entries, each with the fields of the entry.
const (
	entryHeader  = 'h' // id of the installation
	entryIntent  = 'i' // before a commit is sent: id, arguments
	entryClaim   = 'c' // before a claim is sent: id, arguments
	entryAll     = 'w' // before a claim of all shards is sent: id, arguments
	entryAck     = 'a' // acknowledged: id, number
	entryRefused = 'r' // refused: id
)

type ledger struct {
	mu           sync.Mutex
	dir          string
	file         *os.File // nil before openFile, and after a failed open
	size         int64    // total size of the complete entries in file
	torn         bool     // an incomplete entry is at the end of file
	maxFileBytes int64    // size at which the next file is started
	installID    string
}

// ledgerEntry is a commit recorded in the ledger.
type ledgerEntry struct {
	id     string
	kind   byte // entryIntent, entryClaim or entryAll
	args   []string
	number uint64 // number of the commit in its shard; 0: the outcome of the commit is unknown
}

// shard returns the shard that the commit or claim belongs to.
func (p ledgerEntry) shard() string {
	switch {
	case p.kind == entryClaim && len(p.args) > 0:
		return p.args[0]
	case p.kind == entryIntent && len(p.args) > 1:
		return p.args[1]
	}
	return persistence.WholeStore
}

// openLedger opens the ledger in a folder. highest holds the highest acknowledged commit number of each shard.
func openLedger(dir string) (l *ledger, highest map[string]uint64, err error) {
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("redis: ledger: %w", err)
	}
	l = &ledger{dir: dir, maxFileBytes: ledgerBytes}
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

// openFile opens the current file of the ledger for the installation with the id install. It returns an error if the
// ledger belongs to another installation.
func (l *ledger) openFile(install string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.installID != "" && l.installID != install {
		return fmt.Errorf("%w: %s belongs to another Redis; move the folder away if that Redis is no longer used", errLost, l.dir)
	}
	l.installID = install
	return l.open()
}

// open opens the ledger's current file for appending. A new file gets a header with the id of the installation.
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
	if err = l.append(entryHeader, []string{l.installID}); err != nil {
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

// append writes one entry: length, checksum, kind and texts. It first removes an incomplete entry at the end of the
// file, because a reader stops there.
func (l *ledger) append(kind byte, texts []string) error {
	if err := l.removeTornEntry(); err != nil {
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
		return errors.Join(fmt.Errorf("redis: ledger: %w", err), l.removeTornEntry())
	}
	l.size += int64(n)
	return nil
}

// removeTornEntry truncates the file to its complete entries.
func (l *ledger) removeTornEntry() error {
	if !l.torn {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return fmt.Errorf("redis: ledger: %w", err)
	}
	l.torn = false
	return nil
}

// writeEntries calls write, which adds entries to the ledger. If sync is set, the entries are on disk when writeEntries
// returns.
func (l *ledger) writeEntries(sync bool, write func(add func(kind byte, texts ...string) error) error) error {
	l.mu.Lock()
	var err error
	if l.file == nil {
		err = l.open()
	}
	if err == nil {
		err = write(func(kind byte, texts ...string) error { return l.append(kind, texts) })
	}
	f := l.file
	if err == nil && l.size >= l.maxFileBytes {
		err = l.rotate()
	}
	l.mu.Unlock()
	if err != nil || !sync {
		return err
	}
	if err = f.Sync(); err != nil && !errors.Is(err, os.ErrClosed) { // closed by a rotation, which has synced the file
		return fmt.Errorf("redis: ledger: %w", err)
	}
	return nil
}

// rotate makes the current file the previous one, which deletes the older previous file, and starts a new current file.
// If the rename fails, the current file stays in use and the next write tries again.
func (l *ledger) rotate() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("redis: ledger: %w", err)
	}
	_ = l.file.Close() // already synced
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

// read returns the entries of both files in the order in which they were sent, without refused commits. It reads each
// file up to its first incomplete entry.
func (l *ledger) read() ([]ledgerEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []ledgerEntry
	at := make(map[string]int)
	for _, name := range []string{"before", "current"} {
		f, err := os.Open(l.path(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("redis: ledger: %w", err)
		}
		length, err := readEntries(bufio.NewReaderSize(f, 1<<20), func(kind byte, texts []string) {
			switch kind {
			case entryHeader:
				l.installID = texts[0]
			case entryIntent, entryClaim, entryAll:
				at[texts[0]] = len(list)
				list = append(list, ledgerEntry{id: texts[0], kind: kind, args: texts[1:]})
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
		if err == nil && name == "current" && l.file == nil { // entries after the incomplete one would never be read
			err = os.Truncate(l.path(name), length)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("redis: ledger: %w", err)
		}
	}
	return slices.DeleteFunc(list, func(p ledgerEntry) bool { return p.args == nil }), nil
}

// readEntries calls each with every complete entry of r and returns the total length of these entries in bytes.
func readEntries(r io.Reader, each func(kind byte, texts []string)) (length int64, err error) {
	for {
		var head [8]byte
		if _, err = io.ReadFull(r, head[:]); err != nil {
			return length, ignoreEOF(err)
		}
		n := binary.LittleEndian.Uint32(head[:4])
		if n == 0 || n > maxEntry {
			return length, nil
		}
		body := make([]byte, n)
		if _, err = io.ReadFull(r, body); err != nil {
			return length, ignoreEOF(err)
		}
		if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(head[4:]) {
			return length, nil
		}
		var texts []string
		for rest := body[1:]; len(rest) > 0; {
			size, k := binary.Uvarint(rest)
			if k <= 0 || size > uint64(len(rest)-k) { //nolint:gosec // never negative
				return length, nil
			}
			texts = append(texts, string(bytes.Clone(rest[k:k+int(size)]))) //nolint:gosec // within the entry
			rest = rest[k+int(size):]                                       //nolint:gosec // within the entry
		}
		if len(texts) > 0 {
			each(body[0], texts)
		}
		length += int64(8 + len(body))
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// argumentTexts converts the arguments of a Lua script to the strings that the script receives.
func argumentTexts(args []any) []string {
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
