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
