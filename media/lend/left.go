package lend

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

const (
	leftMost = 10_000           // recordings of a workspace that are told of at a time
	leftWait = 10 * time.Second // for links to begin
)

// left are the recordings of a folder that are complete, and that nobody goes on
// with: those of a borrower that is gone are among them. Of "" the folders.
func (p *spool) left(folder string) []wanted {
	out := []wanted{}
	if folder != "" && checkName(folder+"/x") != nil {
		return out
	}
	files, err := os.ReadDir(filepath.Join(p.dir, folder))
	if err != nil {
		return out
	}
	if folder == "" {
		for _, f := range files {
			if f.IsDir() {
				out = append(out, wanted{Name: f.Name()})
			}
		}
		return out
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range files {
		m := wanted{Name: folder + "/" + f.Name()}
		if h := p.kept[m.Name]; h != nil {
			if !h.over || h.wanted > 0 {
				continue
			}
			m.Token = h.token
		}
		if checkName(m.Name) == nil && len(out) < leftMost {
			out = append(out, m)
		}
	}
	return out
}

// Recover fetches what a process before this one has left of a workspace's
// recordings at other nodes. place says where a file goes; "": it stays. It is for
// whoever takes the workspace up: what a call of this process waits for is taken
// from it.
func (p *Pool) Recover(ctx context.Context, workspace string, place func(file string) string) []media.Recording {
	if p == nil {
		return nil
	}
	out := p.cfg.Mine.recover(workspace, place)
	p.joined(ctx)
	for _, l := range p.links() {
		if !p.keeps(l, workspace) {
			continue
		}
		found, err := l.recover(ctx, workspace, place)
		if err != nil {
			p.cfg.Log.Warn("what is left of recordings at another node could not be fetched", slog.Any("error", err))
		}
		out = append(out, found...)
	}
	return out
}

// recover takes what others have left here.
func (l *Lender) recover(workspace string, place func(file string) string) (out []media.Recording) {
	if l == nil {
		return nil
	}
	for _, m := range l.spool.left(workspace) {
		_, file, _ := strings.Cut(m.Name, "/")
		path := place(file)
		if path == "" || !l.spool.adopt(m.Name, path) {
			continue
		}
		if sounds, err := wav.Repair(path); err == nil {
			out = append(out, media.Recording{Path: path, Duration: sounds})
		}
	}
	return out
}

// keeps says whether the lender at the end of a link has recordings of a
// workspace, as it said lately.
func (p *Pool) keeps(l *Link, workspace string) bool {
	l.leaving.Lock()
	defer l.leaving.Unlock()
	if l.asksLeft.IsZero() || time.Since(l.asksLeft) > leftWait {
		c, err := l.fetch.dial()
		if err != nil {
			p.cfg.Log.Debug("another node does not say what is left of recordings", slog.Any("error", err))
			return false
		}
		defer c.close()
		all, err := c.list("")
		if err != nil {
			p.cfg.Log.Debug("another node does not say what is left of recordings", slog.Any("error", err))
			return false
		}
		l.asksLeft, l.left = time.Now(), make(map[string]bool, len(all))
		for _, m := range all {
			l.left[m.Name] = true
		}
	}
	return l.left[workspace]
}

// list asks what is left of a folder; "": of which there is something.
func (c *carrier) list(folder string) (all []wanted, err error) {
	if err = send(c.conn, kindLeft, &wanted{Name: folder}, fileLimit); err == nil {
		err = expect(c.conn, c.in, kindLeft, &all, fileLimit)
	}
	return all, err
}

// joined waits until there is a link to each node that is known, for a while.
func (p *Pool) joined(ctx context.Context) {
	tick := time.NewTicker(joinAgain)
	defer tick.Stop()
	late := time.NewTimer(leftWait)
	defer late.Stop()
	for {
		p.mu.Lock()
		all := len(p.places)
		p.mu.Unlock()
		if all > 0 && len(p.links()) == all {
			return
		}
		select {
		case <-tick.C:
		case <-late.C:
			return
		case <-p.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (l *Link) recover(ctx context.Context, folder string, place func(file string) string) (out []media.Recording, err error) {
	c, err := l.fetch.dial()
	if err != nil {
		return nil, err
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	all, err := c.list(folder)
	for _, m := range all {
		_, file, _ := strings.Cut(m.Name, "/")
		if err != nil || ctx.Err() != nil {
			break
		}
		if checkName(m.Name) != nil || !strings.HasPrefix(m.Name, folder+"/") {
			return out, errors.Join(err, ErrName)
		}
		path := place(file)
		if path == "" {
			continue
		}
		var r media.Recording
		if r, err = c.carry(&errand{wanted: m, path: path}); err == nil && r.Path != "" {
			out = append(out, r)
		}
		if errors.Is(err, errWait) {
			err = nil
		}
	}
	return out, err
}
