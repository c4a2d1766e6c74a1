package shelf

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Node is another node of the install.
type Node struct {
	ID   string // of its process
	Addr string
}

// Nodes are the others.
type Nodes interface {
	// Others are those that live.
	Others() []Node
	// AskFiles sends a request for files to one of them.
	AskFiles(addr string, r *http.Request) (*http.Response, error)
}

// Far are the folders of one kind that the other nodes have.
type Far struct {
	Nodes

	At string // below which each node gives them, with a slash before it
}

// Piece is what a ranged read brought.
type Piece struct {
	Size int64  // of the whole file
	Mark string // of this file, and of no other that has its name
	Got  int    // bytes that were read
}

// Entry is a file of a listing.
type Entry struct {
	Name string
	Age  time.Duration // since it was written
}

// How long another node may take, by what it is asked.
const (
	answerWithin = 5 * time.Second // and more for what is long, by the slowest line that is allowed for
	listWithin   = time.Minute
	slowest      = 64 << 10 // bytes a second
)

func lasts(size int64) time.Duration { return answerWithin + time.Duration(size/slowest)*time.Second }

// errOther: a node does not answer as one does.
var errOther = errors.New("shelf: the answer of another node is none")

// away says that a file cannot be had now: its node may have it.
func away(n Node, err error) error {
	return fmt.Errorf("shelf: node at %s: %w: %w", n.Addr, domain.ErrAway, err)
}

// Get reads a file of a node from an offset on, as much as there is room for.
// domain.ErrNotFound: it has none; domain.ErrAway: nobody knows. With a mark it is
// that file, or none.
func (f Far) Get(ctx context.Context, n Node, workspace, name string, from int64, into []byte, mark string) (p Piece, err error) {
	h := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, from+int64(len(into))-1)}}
	if mark != "" {
		h.Set("If-Match", mark)
	}
	ctx, cancel := context.WithTimeout(ctx, lasts(int64(len(into))))
	defer cancel()
	resp, err := f.ask(ctx, n, http.MethodGet, "/"+workspace+"/"+name, h)
	if err != nil {
		return p, err
	}
	defer func() { _ = resp.Body.Close() }()
	p.Mark = resp.Header.Get("Etag")
	switch resp.StatusCode {
	case http.StatusPartialContent:
		_, size, _ := strings.Cut(resp.Header.Get("Content-Range"), "/")
		p.Size, err = strconv.ParseInt(size, 10, 64)
	case http.StatusOK: // an empty one
		p.Size = resp.ContentLength
	default:
		return p, away(n, fmt.Errorf("%w: %d", errOther, resp.StatusCode))
	}
	if err == nil {
		p.Got, err = io.ReadFull(resp.Body, into[:max(0, min(int64(len(into)), p.Size-from))])
	}
	if err != nil {
		return p, away(n, err)
	}
	return p, nil
}

// Workspaces tells of those that have something at a node.
func (f Far) Workspaces(ctx context.Context, n Node, each func(workspace string)) error {
	return f.lines(ctx, n, "/", func(text string) error {
		each(text)
		return nil
	})
}

// List tells what a workspace has at a node, in no order.
func (f Far) List(ctx context.Context, n Node, workspace string, each func(Entry) error) error {
	return f.lines(ctx, n, "/"+workspace, func(text string) error {
		name, age, _ := strings.Cut(text, " ")
		seconds, err := strconv.ParseInt(age, 10, 64)
		if err == nil && !plain.MatchString(name) {
			err = errOther
		}
		if err != nil {
			return away(n, err)
		}
		return each(Entry{name, time.Duration(seconds) * time.Second})
	})
}

func (f Far) lines(ctx context.Context, n Node, path string, each func(string) error) error {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	resp, err := f.ask(ctx, n, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return away(n, fmt.Errorf("%w: %d", errOther, resp.StatusCode))
	}
	in := bufio.NewScanner(resp.Body)
	for in.Scan() {
		if err := each(in.Text()); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return away(n, err)
	}
	return nil
}

// Delete removes a file of a node; name "": all that the workspace has there.
func (f Far) Delete(ctx context.Context, n Node, workspace, name string) error {
	path := "/" + workspace
	if name != "" {
		path += "/" + name
	}
	resp, err := f.ask(ctx, n, http.MethodDelete, path, nil)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return away(n, fmt.Errorf("%w: %d", errOther, resp.StatusCode))
	}
	return nil
}

func (f Far) ask(ctx context.Context, n Node, method, path string, h http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, f.At+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if h != nil {
		r.Header = h
	}
	resp, err := f.AskFiles(n.Addr, r)
	switch {
	case err != nil:
		return nil, away(n, err)
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
		_ = resp.Body.Close()
		return nil, domain.ErrNotFound
	}
	return resp, nil
}
