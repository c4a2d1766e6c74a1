package lend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

const (
	fetchesMost = 4
	fetchFor    = 2 * time.Minute
	pauseFirst  = 100 * time.Millisecond
	pauseMost   = 10 * time.Second
)

// errWait: the lender has not all of it yet.
var errWait = errors.New("lend: the recording is not complete")

// fetcher fetches recordings from one lender, few at a time.
type fetcher struct {
	again func(ctx context.Context) (net.Conn, error)
	log   *slog.Logger

	mu      sync.Mutex
	waiting []*errand
	workers int
}

// errand is a recording to fetch.
type errand struct {
	wanted
	path   string
	onward bool // what stands at path is its beginning
	tell   func(media.Recording)
	until  time.Time
	pause  time.Duration
}

func newFetcher(again func(ctx context.Context) (net.Conn, error), log *slog.Logger) *fetcher {
	return &fetcher{again: again, log: log}
}

// add has a recording fetched beside the caller.
func (f *fetcher) add(e *errand) {
	if f.again == nil {
		go e.tell(media.Recording{Err: fmt.Errorf("%w: recordings are not fetched", ErrLost)})
		return
	}
	if e.until.IsZero() {
		e.until, e.pause = time.Now().Add(fetchFor), pauseFirst
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, e)
	if f.workers < fetchesMost {
		f.workers++
		go f.work()
	}
}

// next is the errand that waits longest; nil: there is none, and the worker leaves.
func (f *fetcher) next() *errand {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		f.workers--
		return nil
	}
	e := f.waiting[0]
	f.waiting = append(f.waiting[:0], f.waiting[1:]...)
	return e
}

// work runs errands over one connection as long as there are any.
func (f *fetcher) work() {
	var c *carrier
	for {
		e := f.next()
		if e == nil {
			break
		}
		var err error
		var r media.Recording
		if c == nil {
			c, err = f.dial()
		}
		if err == nil {
			r, err = c.carry(e)
		}
		if err == nil {
			e.tell(r)
			continue
		}
		if c != nil && !errors.Is(err, errWait) {
			c.close()
			c = nil
		}
		f.later(e, err)
	}
	if c != nil {
		c.close()
	}
}

// later tries again, until it is too late.
func (f *fetcher) later(e *errand, why error) {
	if time.Now().Add(e.pause).After(e.until) {
		f.log.Error("a recording could not be fetched", slog.String("name", e.Name), slog.Any("error", why))
		e.tell(media.Recording{Err: fmt.Errorf("lend: the recording was not fetched: %w", why)})
		return
	}
	f.log.Debug("a recording is fetched later", slog.String("name", e.Name), slog.Any("error", why))
	time.AfterFunc(e.pause, func() { f.add(e) })
	e.pause = min(2*e.pause, pauseMost)
}

// carrier is a connection for recordings.
type carrier struct {
	conn net.Conn
	in   *reader
}

func (f *fetcher) dial() (*carrier, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fileLimit)
	defer cancel()
	conn, err := f.again(ctx)
	if err != nil {
		return nil, err
	}
	c := &carrier{conn, newReader(conn)}
	if _, err = greet(ctx, conn, c.in, hello{Protocol: protocol, For: forFiles}); err != nil {
		c.close()
		return nil, err
	}
	c.in.most = frameMost
	return c, nil
}

func (c *carrier) close() { _ = c.conn.Close() }

// carry fetches one recording, and has the lender delete it once it is here.
func (c *carrier) carry(e *errand) (media.Recording, error) {
	if err := send(c.conn, kindFetch, &e.wanted, fileLimit); err != nil {
		return media.Recording{}, err
	}
	var what recorded
	if err := expect(c.conn, c.in, kindFile, &what, fileLimit); err != nil {
		return media.Recording{}, err
	}
	switch {
	case what.Wait:
		return media.Recording{}, errWait
	case what.None || what.Failed != nil:
		return what.recording(e.path), nil
	case what.Size <= 0:
		return media.Recording{}, fmt.Errorf("%w: an empty recording", ErrProtocol)
	}
	if err := c.land(e, what.Size); err != nil {
		return media.Recording{}, err
	}
	// It is here, and safe. Where it stays there as well it is removed in time.
	if err := send(c.conn, kindDelete, &e.wanted, fileLimit); err == nil {
		_ = expect(c.conn, c.in, kindDeleted, nil, fileLimit)
	}
	return what.recording(e.path), nil
}

// land writes what comes beside the path, and puts it there once it is whole.
func (c *carrier) land(e *errand, size int64) (err error) {
	dir := filepath.Dir(e.path)
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, filepath.Base(e.path)+".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	err = c.receive(file, size)
	if err == nil && e.onward {
		err = begun(file, e.path, size)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), e.path); err != nil {
		return err
	}
	return syncDir(dir)
}

func (c *carrier) receive(file io.Writer, size int64) error {
	for size > 0 {
		if err := c.conn.SetReadDeadline(time.Now().Add(fileLimit)); err != nil {
			return err
		}
		f, err := c.in.next()
		if err != nil {
			return err
		}
		if f.kind != kindData || len(f.payload) == 0 || int64(len(f.payload)) > size {
			return fmt.Errorf("%w: a part of a recording", ErrProtocol)
		}
		if _, err = file.Write(f.payload); err != nil {
			return err
		}
		size -= int64(len(f.payload))
	}
	return nil
}

// begun puts the beginning of a recording, where it stands at path, in the place of the silence that the lender has of it.
func begun(file *os.File, path string, size int64) error {
	before, length, err := wav.Begun(path)
	if err != nil {
		return nil // there is none, or it cannot be gone on with
	}
	now, _, err := wav.Begun(file.Name())
	if err != nil || now != before {
		return nil
	}
	old, err := os.Open(path) //nolint:gosec // the owner names it
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }()
	if _, err = old.Seek(wav.HeaderLen, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(file, wav.HeaderLen), io.LimitReader(old, min(length, size-wav.HeaderLen)))
	return err
}

func syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // the owner names it
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
