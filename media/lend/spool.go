package lend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/callboard/callboard/media/wav"
)

const (
	spoolFor   = 7 * 24 * time.Hour // how long a recording waits to be fetched
	sweepEvery = time.Hour
	dataPart   = 64 << 10
	fileLimit  = 10 * time.Second // for a part of a file to go over
	fetchIdle  = 30 * time.Second
)

// spool is the folder of recordings until they are fetched, a folder for each workspace.
type spool struct {
	dir string
	log *slog.Logger

	mu   sync.Mutex
	kept map[string]*held
}

// held is a recording that a session writes, or that waits to be fetched.
type held struct {
	token  uint64        // of the session
	evict  func()        // ends it
	done   chan struct{} // closed when it is complete
	over   bool
	what   recorded
	wanted int   // sessions that mean to go on with it, and wait for its end
	before *held // what it was until this session took it; nil: nothing
}

func newSpool(dir string, log *slog.Logger) *spool {
	return &spool{dir: dir, log: log, kept: make(map[string]*held)}
}

func (p *spool) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// occupied says how to get a recording that is still being written by a session: wait ends that one, and says whether it has
// come to its end within the limit. nil: nobody writes it.
func (p *spool) occupied(name string) (wait func(limit time.Duration) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.kept[name]
	if name == "" || h == nil || h.over {
		return nil
	}
	h.wanted++
	return func(limit time.Duration) bool {
		h.evict()
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-h.done:
			return true
		case <-timer.C:
			p.mu.Lock()
			h.wanted--
			p.mu.Unlock()
			return false
		}
	}
}

// take gives a recording to a session that writes it from now on.
func (p *spool) take(name string, evict func()) (path string, token uint64, err error) {
	if p.dir == "" {
		return "", 0, fmt.Errorf("%w: nothing is recorded here", ErrName)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.kept[name]
	if before != nil && !before.over {
		return "", 0, fmt.Errorf("%w: it is being written", ErrName)
	}
	h := &held{token: rand.Uint64(), evict: evict, done: make(chan struct{}), before: before} //nolint:gosec // no secret
	p.kept[name] = h
	return p.path(name), h.token, nil
}

// giveBack undoes a take: there is no session.
func (p *spool) giveBack(name string, token uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.kept[name]
	if h == nil || h.token != token {
		return
	}
	h.over = true
	close(h.done)
	if h.before == nil {
		delete(p.kept, name)
		return
	}
	h.before.wanted = 0
	p.kept[name] = h.before
}

// complete notes what became of a recording.
func (p *spool) complete(name string, token uint64, what recorded) {
	if name == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.kept[name]
	if h == nil || h.token != token || h.over {
		return
	}
	h.over, h.what, h.before = true, what, nil
	close(h.done)
	if what.None && h.wanted == 0 {
		delete(p.kept, name)
	}
}

// look says what there is of a recording.
func (p *spool) look(m wanted) recorded {
	if checkName(m.Name) != nil {
		return recorded{None: true}
	}
	p.mu.Lock()
	h := p.kept[m.Name]
	var what recorded
	switch {
	case h == nil:
	case h.token != m.Token: // another session has gone on with it: it has the file
		what = recorded{None: true}
	case !h.over || h.wanted > 0:
		what = recorded{Wait: true}
	default:
		what = h.what
	}
	p.mu.Unlock()
	if what.None || what.Wait || what.Failed != nil {
		return what
	}
	info, err := os.Stat(p.path(m.Name))
	if err != nil {
		return recorded{None: true}
	}
	if h == nil { // of a process before this one, that did not come to its end
		if what.Duration, err = wav.Repair(p.path(m.Name)); err != nil {
			return recorded{None: true}
		}
		if info, err = os.Stat(p.path(m.Name)); err != nil {
			return recorded{None: true}
		}
	}
	what.Size = info.Size()
	return what
}

// reserve keeps sessions off a recording while something is done to its file. token is that of its session, where one is
// known; zero: any. before is what was known of it. false: a session has it.
func (p *spool) reserve(name string, token uint64) (now, before *held, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.kept[name]
	if before != nil && (!before.over || before.wanted > 0 || token != 0 && before.token != token) {
		return nil, nil, false
	}
	now = &held{token: rand.Uint64(), evict: func() {}, done: make(chan struct{})} //nolint:gosec // no secret
	p.kept[name] = now
	return now, before, true
}

// release ends a reserve.
func (p *spool) release(name string, now, before *held, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now.over = true
	close(now.done)
	if before == nil || gone {
		delete(p.kept, name)
	} else {
		p.kept[name] = before
	}
}

// remove deletes a recording that was fetched.
func (p *spool) remove(m wanted) error {
	if err := checkName(m.Name); err != nil {
		return err
	}
	now, before, ok := p.reserve(m.Name, m.Token)
	if !ok {
		return nil
	}
	err := os.Remove(p.path(m.Name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	p.release(m.Name, now, before, err == nil)
	return err
}

// adopt is Lender.Adopt.
func (p *spool) adopt(name, to string) bool {
	if checkName(name) != nil {
		return false
	}
	now, before, ok := p.reserve(name, 0)
	if !ok {
		return false
	}
	_, err := os.Stat(p.path(name))
	there := err == nil
	if there {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.Rename(p.path(name), to)
	}
	p.release(name, now, before, err == nil)
	if there && err != nil {
		p.log.Error("a recording that another node has left could not be taken", slog.String("name", name), slog.Any("error", err))
	}
	return err == nil
}

// serve answers a connection that fetches, until its end.
func (p *spool) serve(conn net.Conn, in *reader) {
	for {
		if conn.SetReadDeadline(time.Now().Add(fetchIdle)) != nil {
			return
		}
		f, err := in.next()
		if err != nil {
			return
		}
		var m wanted
		if json.Unmarshal(f.payload, &m) != nil {
			return
		}
		switch f.kind {
		case kindFetch:
			err = p.hand(conn, m)
		case kindLeft:
			err = send(conn, kindLeft, p.left(m.Name), fileLimit)
		case kindDelete:
			if err = p.remove(m); err == nil {
				err = send(conn, kindDeleted, &m, fileLimit)
			}
		default:
			err = ErrProtocol
		}
		if err != nil {
			p.log.Warn("a recording could not be handed over", slog.String("name", m.Name), slog.Any("error", err))
			return
		}
	}
}

// hand sends what there is of a recording.
func (p *spool) hand(conn net.Conn, m wanted) error {
	what := p.look(m)
	if what.Size == 0 {
		return send(conn, kindFile, &what, fileLimit)
	}
	file, err := os.Open(p.path(m.Name))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err = send(conn, kindFile, &what, fileLimit); err != nil {
		return err
	}
	part := make([]byte, dataPart)
	for left := what.Size; left > 0; {
		n := min(left, dataPart)
		if _, err = io.ReadFull(file, part[:n]); err != nil {
			return err
		}
		if err = sendRaw(conn, kindData, part[:n], fileLimit); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// sweepUntil removes now and then what nobody has fetched.
func (p *spool) sweepUntil(stop <-chan struct{}) {
	if p.dir == "" {
		return
	}
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		p.sweep(time.Now().Add(-spoolFor))
		select {
		case <-t.C:
		case <-stop:
			return
		}
	}
}

// sweep removes recordings that were written last before a time.
func (p *spool) sweep(before time.Time) {
	folders, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	for _, folder := range folders {
		files, err := os.ReadDir(filepath.Join(p.dir, folder.Name()))
		if err != nil || !folder.IsDir() {
			continue
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
				p.drop(folder.Name() + "/" + f.Name())
			}
		}
	}
}

func (p *spool) drop(name string) {
	now, before, ok := p.reserve(name, 0)
	if !ok {
		return
	}
	err := os.Remove(p.path(name))
	p.release(name, now, before, err == nil)
	if err == nil {
		p.log.Warn("a recording that nobody has fetched for a week was removed", slog.String("name", name))
	}
}
