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
	"github.com/callboard/callboard/media/wav"
)

// What was being fetched when its process died is fetched anew.
const (
	fetched    = ".part-" // in the names of such files
	fetchedFor = time.Hour
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
	mailbox.Work(ctx, jobLimit, func(bound context.Context) any {
		var m salvaged
		for _, part := range sound.Recover(bound, workspace, func(file string) string { return partPlace(dir, file) }) {
			id, _, _ := strings.Cut(filepath.Base(part.Path), ".wav")
			m.jobs = append(m.jobs, &job{callID: id, salvaged: true, recording: part})
		}
		return m
	})
}

// partPlace is where a part of a recording is kept that was fetched; "": nowhere
// for now, for there is another one.
func partPlace(dir, file string) string {
	id, _, recording := strings.Cut(file, ".wav")
	path := filepath.Join(dir, id+".wav"+beginning)
	if !recording || fileIs(path) {
		return ""
	}
	return path
}

// besides has a part joined that was fetched while its call lived, once the
// recording of that is kept.
func (c *Calls) besides(ctx actor.Context, j *job) {
	if j.salvaged || c.cfg.SpoolDir == "" || c.cfg.Sound == nil {
		return
	}
	path := filepath.Join(c.cfg.SpoolDir, c.cfg.Workspace, j.callID+".wav"+beginning)
	if !fileIs(path) {
		return
	}
	mailbox.Work(ctx, jobLimit, func(context.Context) any {
		sounds, err := wav.Repair(path)
		if err != nil {
			return nil
		}
		return salvaged{[]*job{{callID: j.callID, salvaged: true, recording: media.Recording{Path: path, Duration: sounds}}}}
	})
}

func fileIs(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
