package call

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// JoinRecordingParts joins parts of recordings that lie in the spool with the rest.
type JoinRecordingParts struct{}

// Control admits it always.
func (JoinRecordingParts) Control() {}

// joinRecordingParts looks for parts in the spool, one look at a time.
func (c *Calls) joinRecordingParts(ctx actor.Context) {
	if c.joinAgain = c.rounds > 0; c.joinAgain || c.cfg.SpoolDir == "" {
		return
	}
	dir, busy, log := filepath.Join(c.cfg.SpoolDir, c.cfg.Workspace), c.busy(), c.cfg.Log
	c.round(ctx, jobLimit, func(context.Context) (jobs []*job) {
		for _, id := range apart(dir) {
			if !busy[id] {
				jobs = append(jobs, gather(dir, leftOf(dir, id), time.Now(), log)...)
			}
		}
		return jobs
	})
}

// round looks for unfinished recordings. It reports its end also after a panic, because
// joinRecordingParts waits for it.
func (c *Calls) round(ctx actor.Context, limit time.Duration, look func(context.Context) []*job) {
	c.rounds++
	log := c.cfg.Log
	mailbox.Work(ctx, limit, func(bound context.Context) (m any) {
		defer func() {
			if v := recover(); v != nil {
				log.Error("what is left of recordings could not be looked at", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
				m = salvaged{round: true}
			}
		}()
		return salvaged{round: true, jobs: look(bound)}
	})
}

// apart are the calls of which a part lies beside what was recorded here.
func apart(dir string) (ids []string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil // it was never made, or is gone
	}
	for _, f := range files {
		if l, is := leftoverOf(f.Name()); is && strings.HasSuffix(f.Name(), beginning) && !slices.Contains(ids, l.id) {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// busy are the calls with whose recordings something is done.
func (c *Calls) busy() map[string]bool {
	all := maps.Clone(c.salvages)
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

// IsRecordingFile reports whether a file of the spool is a recording, or a part of one.
func IsRecordingFile(name string) bool {
	_, is := leftoverOf(name)
	return is
}

// MoveToFree renames a file, unless there is one of the new name: fs.ErrExist.
func MoveToFree(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// FreePartPath is where a recording of another node's spool is put in the spool folder
// of its workspace; empty: another part of the same call lies there still.
func FreePartPath(dir, file string) string {
	path := filepath.Join(dir, strings.TrimSuffix(file, beginning)+beginning)
	if fileIs(path) {
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
	if fileIs(filepath.Join(dir, j.callID+".wav"+beginning)) {
		c.salvageOne(ctx, j.callID)
	}
}

func fileIs(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
