package call

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/media"
)

// Recover is the pool's.
func (s sound) Recover(ctx context.Context, workspace string, place func(file string) string) []media.Recording {
	return s.away.Recover(ctx, workspace, place)
}

// recover fetches those of a workspace that has come here. What is of a call that
// lives waits beside its recording for the end of that.
func (c *Calls) recover(ctx actor.Context) {
	sound := c.cfg.Sound
	if sound == nil || c.cfg.SpoolDir == "" {
		return
	}
	workspace, dir := c.cfg.Workspace, filepath.Join(c.cfg.SpoolDir, c.cfg.Workspace)
	live, log := c.living(), c.cfg.Log
	mailbox.Work(ctx, jobLimit, func(bound context.Context) any {
		var m salvaged
		calls := make(map[string]bool)
		for _, part := range sound.Recover(bound, workspace, func(file string) string { return partPlace(dir, file) }) {
			if l, is := leftoverOf(filepath.Base(part.Path)); is {
				calls[l.id] = true
			}
		}
		for id := range calls {
			if !live[id] {
				m.jobs = append(m.jobs, gather(dir, leftOf(dir, id), time.Now(), log)...)
			}
		}
		return m
	})
}

// Gather fetches what other nodes have of recordings of the workspace: one of them
// says that it has something.
type Gather struct{}

// Control admits it always.
func (Gather) Control() {}

// gathering fetches what other nodes have of recordings of the workspace, which was
// there: what was recorded when they were killed, or could not be kept any more.
func (c *Calls) gathering(ctx actor.Context) {
	if c.cfg.Left == nil || c.cfg.SpoolDir == "" || time.Now().Before(c.gathers) {
		return
	}
	c.gathers = time.Now().Add(jobLimit)
	workspace, dir := c.cfg.Workspace, filepath.Join(c.cfg.SpoolDir, c.cfg.Workspace)
	busy, fetch, log := c.busy(), c.cfg.Left, c.cfg.Log
	mailbox.Work(ctx, jobLimit, func(bound context.Context) any {
		m := salvaged{gathered: true}
		calls := make(map[string]bool)
		for _, file := range fetch(bound, workspace, func(file string) string { return partPlace(dir, strings.TrimSuffix(file, beginning)) }) {
			if l, is := leftoverOf(filepath.Base(file)); is {
				calls[l.id] = true
			}
		}
		for id := range calls {
			if busy[id] {
				m.late = append(m.late, id)
				continue
			}
			m.jobs = append(m.jobs, gather(dir, leftOf(dir, id), time.Now(), log)...)
		}
		return m
	})
}

// gathered: what came while something was done with its call's recording is looked
// at once that is over.
func (c *Calls) gathered(ctx actor.Context, late []string) {
	c.gathers = time.Time{}
	busy := c.busy()
	for _, id := range late {
		if !busy[id] {
			c.salvageOne(ctx, id)
		}
	}
}

// busy are the calls with whose recordings something is done.
func (c *Calls) busy() map[string]bool {
	all := c.living()
	for id := range c.berths {
		all[id] = true
	}
	for _, list := range [][]*job{c.jobs.ready, c.jobs.held} {
		for _, j := range list {
			all[j.callID] = true
		}
	}
	for _, set := range []map[*job]bool{c.jobs.running, c.jobs.waiting} {
		for j := range set {
			all[j.callID] = true
		}
	}
	return all
}

// Spooled says whether a file of the spool is a recording, or a part of one.
func Spooled(name string) bool {
	_, is := leftoverOf(name)
	return is
}

// partPlace is where a part of a recording is kept that was fetched; "": nowhere
// for now, for there is another one.
func partPlace(dir, file string) string {
	path := filepath.Join(dir, file+beginning)
	if _, recording := leftoverOf(file); !recording || strings.HasSuffix(file, beginning) || fileIs(path) {
		return ""
	}
	return path
}

// besides has parts joined that were fetched while their call lived, once the
// recording of that is kept, or there is none.
func (c *Calls) besides(ctx actor.Context, j *job) {
	if j.salvaged || c.cfg.SpoolDir == "" {
		return
	}
	dir := filepath.Join(c.cfg.SpoolDir, c.cfg.Workspace)
	if fileIs(filepath.Join(dir, j.callID+".wav"+beginning)) || fileIs(filepath.Join(dir, partName(j.callID+".wav", 2)+beginning)) {
		c.salvageOne(ctx, j.callID)
	}
}

func fileIs(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
