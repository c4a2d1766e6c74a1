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

// erasureStep is one named step of the erasure of a person's data.
type erasureStep struct {
	name string
	run  func(ctx context.Context) error
}

// erase carries out the erasure step by step. It stores the finished steps in the data request, so that a later run
// continues with the first unfinished step. Calls, messages, conversations and appointments are erased last,
// because earlier steps need them.
func (j *job) erase(ctx context.Context) error {
	steps := []erasureStep{{"contacts", j.eraseContacts}, {"screened", j.eraseScreened}, {"bulk_orders", j.eraseBulkOrders}, {"live", j.awaitLive}, {"events", j.eraseEvents}, {"decisions", j.eraseDecisions}}
	for _, k := range MaskedKinds() {
		steps = append(steps, erasureStep{k.Kind, func(ctx context.Context) error { return j.mask(ctx, k) }})
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
		if err := s.run(ctx); err != nil {
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

// count adds n to the request's counter of erased records of a kind. The counters are stored when the step is finished.
func (j *job) count(kind string, n int) {
	if n == 0 {
		return
	}
	counts := make(map[string]int, len(j.row.Counts)+1)
	maps.Copy(counts, j.row.Counts)
	counts[kind] += n
	j.row.Counts = counts
}

// awaitLive waits until the person has no live call, no message is being sent to or from the person, and no export
// is being written.
func (j *job) awaitLive(ctx context.Context) error {
	for {
		busy, err := j.findLiveWork(ctx)
		if err != nil {
			return err
		}
		if waits, err := j.waitFor(ctx, busy); err != nil || !waits {
			return err
		}
	}
}

func (j *job) findLiveWork(ctx context.Context) (refs []domain.ResourceRef, err error) {
	ws, env, phone := j.row.WorkspaceID, string(j.row.Environment), j.number.E164()
	add := func(id, object string) { refs = append(refs, domain.ResourceRef{ID: id, Object: object}) }
	addPending := func(m *domain.Message) {
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
		commit.ForEachRow(ctx, j.service.store, "message", ws, "to="+env+"/"+phone, addPending),
		commit.ForEachRow(ctx, j.service.store, "message", ws, "from="+env+"/"+phone, addPending),
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

// eraseEvents deletes the events that are about the person or contain the number. Pending webhook deliveries of these
// events fail.
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

// eraseDecisions masks the number in decision logs in a way that keeps the logs verifiable.
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

// mask hides the erased phone number in all rows of one record kind and stores the changed rows.
func (j *job) mask(ctx context.Context, k RowKind) error {
	return j.eachRow(ctx, k, func(r domain.Record) error {
		j.count(k.Kind, 1)
		return j.change(ctx, r, func() bool { return j.number.MaskValue(r) })
	})
}

// eraseTraces deletes the SIP traces that contain the number. It also deletes such traces of calls with other persons,
// because a trace with masked numbers is useless.
func (j *job) eraseTraces(ctx context.Context) error {
	return j.eachRow(ctx, NewRowKind[domain.TraceRow](), func(r domain.Record) error {
		j.count("call_trace", 1)
		_, err := j.service.store.Apply(ctx, commit.Change{Workspace: j.row.WorkspaceID, Deletes: []domain.Key{r.Key()}})
		return err
	})
}

// eraseAttemptCounts deletes the counters of calls to the number, and its pending opt-out.
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

// fileWindow is how many bytes of a file are searched at a time. The last fileOverlap bytes are searched again with the
// next part of the file, because a number may cross the border between two parts.
const (
	fileWindow  = 1 << 20
	fileOverlap = 128
)

// fileContains reports whether a file contains the number.
func (j *job) fileContains(ctx context.Context, name string) (bool, error) {
	body, _, err := j.service.blobs.Open(ctx, j.row.WorkspaceID, name)
	if errors.Is(err, domain.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	window, overlap := make([]byte, fileWindow), 0
	for {
		n, err := io.ReadFull(body, window[overlap:])
		if j.number.IsIn(string(window[:overlap+n])) {
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
		overlap = copy(window, window[len(window)-fileOverlap:])
	}
}

// eraseDoNotCall replaces the number on do-not-call lists by its keyed hash.
func (j *job) eraseDoNotCall(ctx context.Context) error {
	n, err := dnc.PackNumber(j.number.E164())
	if err != nil {
		return nil //nolint:nilerr // a do-not-call list cannot contain this number
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

// erasePerson deletes the records of a kind that are about the person. In other records of the kind it masks the number.
func (j *job) erasePerson(ctx context.Context, k RowKind) error {
	return j.eachRow(ctx, k, func(r domain.Record) error {
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

// deleteAppointment deletes an appointment and frees its time slot.
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

// reportSettings stores in the data request the list of workspace settings that contain the number.
func (j *job) reportSettings(ctx context.Context) error {
	var remaining []domain.ResourceRef
	for _, k := range SettingKinds() {
		err := j.eachRow(ctx, k, func(r domain.Record) error {
			ref := domain.ResourceRef{ID: r.Key().ID, Object: k.Kind}
			if len(remaining) < maxListedResources && !slices.Contains(remaining, ref) {
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
