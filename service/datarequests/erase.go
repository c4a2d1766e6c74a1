package datarequests

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
)

// erasureStep is a part of an erasure that is done once.
type erasureStep struct {
	name string
	do   func(ctx context.Context) error
}

// erase removes what the workspace has of the person, step by step. What is
// finished stands in the row, so that a process that goes on after another one
// begins with the first step that is not. The calls, messages, conversations and
// appointments go last: the steps before need to know them.
func (j *job) erase(ctx context.Context) error {
	steps := []erasureStep{{"contacts", j.eraseContacts}, {"screened", j.eraseScreened}, {"bulk_orders", j.eraseBulkOrders}, {"live", j.awaitLive}, {"events", j.eraseEvents}, {"decisions", j.eraseDecisions}}
	for _, k := range BlankedKinds() {
		steps = append(steps, erasureStep{k.Kind, func(ctx context.Context) error { return j.blank(ctx, k) }})
	}
	steps = append(steps, erasureStep{"call_trace", j.eraseTraces}, erasureStep{"number_days", j.eraseAttemptCounts}, erasureStep{"exports", j.eraseFiles}, erasureStep{"dnc_entries", j.eraseDoNotCall})
	for _, k := range PersonKinds() {
		steps = append(steps, erasureStep{k.Kind, func(ctx context.Context) error { return j.erasePerson(ctx, k) }})
	}
	steps = append(steps, erasureStep{"settings", j.reportSettings})
	for _, s := range steps {
		if slices.Contains(j.row.Done, s.name) {
			continue
		}
		if err := s.do(ctx); err != nil {
			return err
		}
		if err := j.save(ctx, func(r *domain.DataRequest) { r.Done = append(slices.Clone(r.Done), s.name) }); err != nil {
			return err
		}
	}
	return j.save(ctx, func(r *domain.DataRequest) {
		now := record.Now()
		r.Status, r.CompletedAt, r.Phone, r.Done = domain.DataCompleted, &now, "", nil
	})
}

// count adds to what the request says of a kind; it is stored with the step.
func (j *job) count(kind string, n int) {
	if n == 0 {
		return
	}
	counts := make(map[string]int, len(j.row.Counts)+1)
	maps.Copy(counts, j.row.Counts)
	counts[kind] += n
	j.row.Counts = counts
}

// awaitLive waits until no call with the person goes on, no message to or from
// the person is on its way, and no export is being written.
func (j *job) awaitLive(ctx context.Context) error {
	for {
		busy, err := j.liveWork(ctx)
		if err != nil {
			return err
		}
		if waits, err := j.waitFor(ctx, busy); err != nil || !waits {
			return err
		}
	}
}

func (j *job) liveWork(ctx context.Context) (refs []domain.ResourceRef, err error) {
	ws, env, phone := j.row.WorkspaceID, string(j.row.Environment), j.number.E164()
	add := func(id, object string) { refs = append(refs, domain.ResourceRef{ID: id, Object: object}) }
	onItsWay := func(m *domain.Message) {
		if m.Todo != "" || m.Answering != "" {
			add(m.ID, "message")
		}
	}
	return refs, errors.Join(err,
		commit.ForEachRow(ctx, j.service.store, "call", ws, "active="+env, func(c *domain.Call) {
			if j.isCall(c) {
				add(c.ID, "call")
			}
		}),
		commit.ForEachRow(ctx, j.service.store, "orphan", ws, "left", func(o *domain.AbandonedCall) {
			if string(o.Environment) == env && j.number.IsIn(o.Number) {
				add(o.CallID, "call")
			}
		}),
		commit.ForEachRow(ctx, j.service.store, "message", ws, "to="+env+"/"+phone, onItsWay),
		commit.ForEachRow(ctx, j.service.store, "message", ws, "from="+env+"/"+phone, onItsWay),
		commit.ForEachRow(ctx, j.service.store, "export", ws, "open", func(e *domain.Export) {
			if string(e.Environment) == env {
				add(e.ID, "export")
			}
		}),
		commit.ForEachRow(ctx, j.service.store, "data_request", ws, "open", func(r *domain.DataRequest) {
			if r.Type == domain.DataExport && r.PhoneHash == j.row.PhoneHash && string(r.Environment) == env {
				add(r.ID, "data_request")
			}
		}),
	)
}

// eraseEvents deletes the events that are about the person or name the number.
// Deliveries of them that are still due fail.
func (j *job) eraseEvents(ctx context.Context) error {
	if err := j.collect(ctx); err != nil {
		return err
	}
	for after := uint64(0); ; {
		if err := j.yield(); err != nil {
			return err
		}
		batch, err := j.service.store.Events(ctx, j.row.WorkspaceID, after, eventsPerRead)
		if err != nil || len(batch) == 0 {
			return err
		}
		change := commit.Change{Workspace: j.row.WorkspaceID}
		for i := range batch {
			e := &batch[i]
			if after = e.Offset; e.Environment == j.row.Environment && (j.about[e.Subject] || j.number.IsInValue(e)) {
				change.DeleteEvents = append(change.DeleteEvents, e.Offset)
			}
		}
		if len(change.DeleteEvents) == 0 {
			continue
		}
		if _, err = j.service.store.Apply(ctx, change); err != nil {
			return err
		}
		j.count("events", len(change.DeleteEvents))
	}
}

// eraseDecisions blanks the number in logs of decisions. The logs can still be
// verified.
func (j *job) eraseDecisions(ctx context.Context) error {
	key, phone := j.service.keys.DecisionLogKey(j.row.WorkspaceID), j.number.E164()
	for _, c := range j.campaigns {
		for {
			rows, err := j.service.decisions.PagesOfNumber(ctx, c, phone, 1)
			if err != nil {
				return err
			}
			for _, page := range rows {
				if err = j.change(ctx, page, func() bool { return page.EraseNumber(key, phone) }); err != nil {
					return err
				}
			}
			if j.count("decisions", len(rows)); len(rows) < domain.DecisionRowsPerRead {
				break
			}
		}
	}
	return nil
}

// blank blanks the number in the rows of a kind.
func (j *job) blank(ctx context.Context, k RowKind) error {
	return j.rows(ctx, k, func(r domain.Record) error {
		j.count(k.Kind, 1)
		return j.change(ctx, r, func() bool { return j.number.MaskValue(r) })
	})
}

// eraseTraces deletes SIP messages that name the number, also those of calls with
// others: a message without some of its words is none.
func (j *job) eraseTraces(ctx context.Context) error {
	return j.rows(ctx, RowsOf[domain.TraceRow](), func(r domain.Record) error {
		j.count("call_trace", 1)
		_, err := j.service.store.Apply(ctx, commit.Change{Workspace: j.row.WorkspaceID, Deletes: []domain.Key{r.Key()}})
		return err
	})
}

// eraseAttemptCounts deletes what is counted of the number.
func (j *job) eraseAttemptCounts(ctx context.Context) error {
	days := &domain.NumberAttempts{WorkspaceID: j.row.WorkspaceID, Environment: j.row.Environment, Number: j.number.E164()}
	optOut := j.service.optOutKey(j.row.WorkspaceID, j.row.Environment, j.number.E164())
	_, err := j.service.store.Apply(ctx, commit.Change{Workspace: j.row.WorkspaceID, Deletes: []domain.Key{days.Key(), optOut}})
	return err
}

// eraseFiles deletes the files of exports that contain the number.
func (j *job) eraseFiles(ctx context.Context) error {
	var exports []*domain.Export
	var requests []*domain.DataRequest
	err := errors.Join(
		commit.ForEachRow(ctx, j.service.store, "export", j.row.WorkspaceID, "kept", func(e *domain.Export) { exports = append(exports, e) }),
		commit.ForEachRow(ctx, j.service.store, "data_request", j.row.WorkspaceID, "kept", func(r *domain.DataRequest) { requests = append(requests, r) }),
	)
	if err != nil {
		return err
	}
	for _, r := range requests {
		if r.Environment != j.row.Environment || r.PhoneHash != j.row.PhoneHash {
			continue
		}
		if err = j.service.expire(ctx, r); err != nil {
			return err
		}
		j.count("exports", 1)
	}
	for _, e := range exports {
		if e.Environment != j.row.Environment {
			continue
		}
		has, err := j.fileContains(ctx, e.File())
		if err == nil && has {
			err = j.service.exports.DeleteExportFile(ctx, e)
			j.count("exports", 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fileWindow is how much of a file is searched at once, fileOverlap how much of
// it is searched again with what follows: longer than a number is written.
const (
	fileWindow  = 1 << 20
	fileOverlap = 128
)

// fileContains says whether a file contains the number.
func (j *job) fileContains(ctx context.Context, name string) (bool, error) {
	body, _, err := j.service.blobs.Open(ctx, j.row.WorkspaceID, name)
	if errors.Is(err, domain.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	window, kept := make([]byte, fileWindow), 0
	for {
		n, err := io.ReadFull(body, window[kept:])
		if j.number.IsIn(string(window[:kept+n])) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if err = j.yield(); err != nil {
			return false, err
		}
		kept = copy(window, window[len(window)-fileOverlap:])
	}
}

// eraseDoNotCall replaces the number on do-not-call lists by its keyed hash.
func (j *job) eraseDoNotCall(ctx context.Context) error {
	n, err := dnc.PackNumber(j.number.E164())
	if err != nil {
		return nil //nolint:nilerr // no list can hold it
	}
	var ids []string
	if err = commit.ForEachRow(ctx, j.service.store, "dnc_list", j.row.WorkspaceID, "env="+string(j.row.Environment), func(l *domain.DNCList) { ids = append(ids, l.ID) }); err != nil {
		return err
	}
	if own := domain.DefaultDNCID(j.row.WorkspaceID, j.row.Environment); !slices.Contains(ids, own) {
		ids = append(ids, own)
	}
	for _, id := range ids {
		erased, err := j.service.lists.EraseNumber(ctx, j.row.WorkspaceID, id, n)
		if err != nil {
			return err
		}
		if erased {
			j.count("dnc_entries", 1)
		}
	}
	return nil
}

// erasePerson deletes what is about the person, and blanks the number in what is
// about others.
func (j *job) erasePerson(ctx context.Context, k RowKind) error {
	return j.rows(ctx, k, func(r domain.Record) error {
		j.count(k.Kind, 1)
		if !j.isAbout(r) {
			return j.change(ctx, r, func() bool { return j.number.MaskValue(r) })
		}
		switch r := r.(type) {
		case *domain.Call:
			return j.service.calls.DeleteCalls(ctx, j.row.WorkspaceID, []*domain.Call{r})
		case *domain.Appointment:
			return j.deleteAppointment(ctx, r)
		}
		_, err := j.service.store.Apply(ctx, commit.Change{
			Workspace: j.row.WorkspaceID, Deletes: []domain.Key{r.Key()}, DeleteSubjectCounts: []string{r.Key().ID},
		})
		return err
	})
}

// deleteAppointment deletes an appointment and frees its time.
func (j *job) deleteAppointment(ctx context.Context, a *domain.Appointment) error {
	for range record.MaxTries {
		due := &domain.ReminderDue{WorkspaceID: a.WorkspaceID, AppointmentID: a.ID}
		c := commit.Change{Workspace: a.WorkspaceID, Deletes: []domain.Key{a.Key(), due.Key()}, DeleteSubjectCounts: []string{a.ID}}
		if err := j.service.appointments.FreeTime(ctx, &c, a); err != nil {
			return err
		}
		if _, err := j.service.store.Apply(ctx, c); !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return record.ConflictError()
}

// reportSettings finds the settings of the workspace that contain the number.
func (j *job) reportSettings(ctx context.Context) error {
	var remaining []domain.ResourceRef
	for _, k := range SettingKinds() {
		err := j.rows(ctx, k, func(r domain.Record) error {
			ref := domain.ResourceRef{ID: r.Key().ID, Object: k.Kind}
			if len(remaining) < maxWaitingFor && !slices.Contains(remaining, ref) {
				remaining = append(remaining, ref)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	j.row.Remaining = remaining
	return nil
}
