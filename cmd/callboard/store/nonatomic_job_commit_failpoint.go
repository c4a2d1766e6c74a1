//go:build failpoints

package store

import (
	"context"
	"os"
	"slices"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// splitJobCommits commits the effect of a bulk job item first and the end of the item later. FAILPOINT_SPLIT_JOB_COMMIT
// enables this. The kill test of bulk jobs must then see an item executed twice.
func splitJobCommits(s storecache.Backend) storecache.Backend {
	if os.Getenv("FAILPOINT_SPLIT_JOB_COMMIT") == "" {
		return s
	}
	return splitJobCommitStore{s}
}

// splitJobCommitStore splits the commit of a bulk job item into two commits.
type splitJobCommitStore struct{ storecache.Backend }

// Apply commits a change. It commits the effect of a bulk job item before the state of the job.
func (p splitJobCommitStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	ofJob := func(kind string) bool { return slices.Contains([]string{"bulk", "bulk_item", "bulk_errors"}, kind) }
	end := commit.Change{Workspace: c.Workspace}
	work := c
	work.Puts, work.Guards = nil, nil
	for _, r := range c.Puts {
		part := &work
		if ofJob(r.Key().Kind) {
			part = &end
		}
		part.Puts = append(part.Puts, r)
	}
	for _, g := range c.Guards {
		part := &work
		if ofJob(g.Key.Kind) {
			part = &end
		}
		part.Guards = append(part.Guards, g)
	}
	item := slices.ContainsFunc(end.Puts, func(r domain.Record) bool { return r.Key().Kind == "bulk_item" })
	if !item || len(work.Puts) == 0 {
		return p.Backend.Apply(ctx, c)
	}
	events, err := p.Backend.Apply(ctx, work)
	if err != nil {
		return nil, err
	}
	_, err = p.Backend.Apply(ctx, end)
	return events, err
}
