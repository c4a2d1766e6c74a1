package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

type answer struct {
	result persistence.Result
	err    error
}

type request struct {
	commit    persistence.Commit
	claim     claim
	cancelled <-chan struct{}
	answer    chan answer // room for the one answer
}

func (r *request) gone() bool {
	select {
	case <-r.cancelled:
		return true
	default:
		return false
	}
}

// run decides commits one after another and makes all that wait durable at
// once. It alone writes.
func (d *Driver) run() {
	defer close(d.done)
	look := time.NewTicker(diskEvery)
	defer look.Stop()
	for {
		select {
		case r := <-d.queue:
			batch := d.gather(d.collect(r))
			d.commitAll(batch)
			d.last.at, d.last.commits = time.Now(), len(batch)
		case <-look.C:
			_ = d.checkDisk() // commits and Healthy tell
		case <-d.quit:
			for {
				select {
				case r := <-d.queue:
					d.commitAll(d.collect(r))
				default:
					return
				}
			}
		}
	}
}

// collect takes what waits behind the first request, within reason.
func (d *Driver) collect(first *request) []*request {
	batch, size := []*request{first}, first.commit.Size()
	for len(batch) < queueLength && size < batchBytes {
		select {
		case r := <-d.queue:
			batch = append(batch, r)
			size += r.commit.Size()
		default:
			return batch
		}
	}
	return batch
}

// gather waits a little for more where several commit at a time: an fsync costs
// as much for many commits as for one. Who commits alone never waits.
func (d *Driver) gather(batch []*request) []*request {
	alone := len(batch) == 1 && d.last.commits <= 1
	if d.o.NoSync || alone || len(batch) >= gatherMost || time.Since(d.last.at) > gatherWithin {
		return batch
	}
	wait := time.NewTimer(gatherFor)
	defer wait.Stop()
	for len(batch) < gatherMost {
		select {
		case r := <-d.queue:
			batch = append(batch, r)
		case <-wait.C:
			return batch
		}
	}
	return batch
}

// commitAll stages what may be, writes it with one fsync and answers.
func (d *Driver) commitAll(requests []*request) {
	if requests = d.admit(requests); len(requests) == 0 {
		return
	}
	b := newDraft(d.db, d.recent)
	staged := make([]*request, 0, len(requests))
	answers := make([]answer, 0, len(requests))
	var broken error
	for _, r := range requests {
		if broken != nil || r.gone() {
			r.answer <- answer{err: errors.Join(broken, persistence.ErrUnavailable)}
			continue
		}
		result, err := d.stage(b, r)
		switch {
		case err == nil, errors.Is(err, domain.ErrConflict), errors.Is(err, domain.ErrFenced), errors.Is(err, persistence.ErrMalformed):
			// A conflict may be with a commit of this very batch: whoever hears
			// of it and reads again must find what it lost against.
			staged, answers = append(staged, r), append(answers, answer{result: result, err: err})
		default: // a read failed, perhaps half way: nothing of this batch is written
			broken = fmt.Errorf("pebble: stage: %w", err)
			r.answer <- answer{err: broken}
		}
	}
	if broken == nil && !b.batch.Empty() {
		broken = d.apply(b.batch)
	} else {
		_ = b.batch.Close()
	}
	if broken == nil {
		d.recent.age()
		if b.forgot {
			d.recent.clear()
		}
		d.views.renew(d.db)
	} else {
		d.recent.clear()
	}
	for i, r := range staged {
		if broken != nil {
			answers[i] = answer{err: broken}
		}
		r.answer <- answers[i]
	}
}

// admit returns the requests that may be written, and answers the others. On a full
// disk those are the reserved ones.
func (d *Driver) admit(requests []*request) []*request {
	refuse := d.fs.failure()
	if refuse == nil {
		refuse = d.checkDisk()
	}
	if refuse == nil {
		return requests
	}
	var admitted []*request
	for _, r := range requests {
		if r.commit.Reserved && errors.Is(refuse, persistence.ErrDiskFull) && d.useReserve() {
			admitted = append(admitted, r)
			continue
		}
		r.answer <- answer{err: refuse}
	}
	return admitted
}

// apply writes a batch. Where the log fails, the call into Pebble never comes
// back (see guardedFS), so it stands on a goroutine of its own.
func (d *Driver) apply(b *pebble.Batch) error {
	applied := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				err := fmt.Errorf("panic in the engine: %v", p)
				d.fs.fail(err)
				applied <- err
			}
		}()
		applied <- b.Commit(d.write)
	}()
	select {
	case err := <-applied:
		if err == nil {
			err = d.fs.failure() // Pebble reports failed commits to its logger
		}
		if err != nil {
			d.fs.fail(err)
			return d.fs.failure()
		}
		return b.Close()
	case <-d.fs.failed:
		return d.fs.failure()
	}
}

// checkDisk refuses commits while there is too little room, because Pebble
// does not survive a log that cannot grow.
func (d *Driver) checkDisk() error {
	now := time.Now()
	if full := d.diskFull.Load(); now.Sub(d.lookedAt) >= diskEvery || full {
		d.lookedAt = now
		usage, err := d.o.FS.GetDiskUsage(d.dir)
		nowFull := err == nil && usage.AvailBytes < d.o.MinFree
		if nowFull != full {
			d.diskFull.Store(nowFull)
			d.o.Logger.Warn("disk space of the store", slog.Bool("full", nowFull), slog.Uint64("available_bytes", usage.AvailBytes))
		}
		if err == nil && usage.AvailBytes >= d.o.MinFree+reserveBytes {
			d.keepReserve()
		}
	}
	if d.diskFull.Load() {
		return persistence.ErrDiskFull
	}
	return nil
}

// stage checks a commit against the batch so far and, if all holds, adds it.
// domain.ErrConflict, domain.ErrFenced and persistence.ErrMalformed leave the
// batch as it was.
func (d *Driver) stage(b *draft, r *request) (persistence.Result, error) {
	c := &r.commit
	if r.claim != noClaim {
		return persistence.Result{}, takeShard(b, c, r.claim)
	}
	if c.ID != "" {
		if before, err := get(b, key(answerSpace, c.ID)); err != nil || before != nil {
			return replayed(before, err)
		}
	}
	token, err := get(b, key(tokenSpace, c.Shard))
	if err != nil {
		return persistence.Result{}, err
	}
	if string(token) != c.Token {
		return persistence.Result{}, domain.ErrFenced
	}
	for _, g := range c.Guards {
		have, errRow := getKept(b, rowKey(g.Key))
		if errRow != nil {
			return persistence.Result{}, errRow
		}
		if have.version != g.Version {
			return persistence.Result{}, domain.ErrConflict
		}
	}
	raised, err := raise(b, c.Adds)
	if err != nil {
		return persistence.Result{}, err
	}
	result := persistence.Result{Versions: make([]uint64, len(c.Puts)), Sequences: make([]uint64, len(c.Events))}
	for i, p := range c.Puts {
		if result.Versions[i], err = put(b, p); err != nil {
			return persistence.Result{}, err
		}
	}
	for i, a := range c.Adds {
		if err = b.set(rowKey(a.Key), raised[i].appendTo(nil)); err != nil {
			return persistence.Result{}, err
		}
	}
	if err = appendEvents(b, c, &result); err != nil {
		return persistence.Result{}, err
	}
	if err = shorten(b, c); err != nil {
		return persistence.Result{}, err
	}
	if c.ID == "" {
		return result, nil
	}
	return result, remember(b, c.ID, result)
}

func replayed(before []byte, err error) (persistence.Result, error) {
	if err != nil {
		return persistence.Result{}, err
	}
	_, result, err := decodeAnswer(before)
	return result, err
}

// source is a draft, or a view of what is durable.
type source interface {
	Get(k []byte) ([]byte, io.Closer, error)
}

// get reads a copy; nil: no such key.
func get(b source, k []byte) ([]byte, error) {
	v, closer, err := b.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v = append(make([]byte, 0, len(v)), v...)
	return v, closer.Close()
}

// getRow reads a row; version 0: there is none.
func getRow(b source, k []byte) (row, error) {
	v, err := get(b, k)
	if err != nil || v == nil {
		return row{}, err
	}
	return decodeRow(v)
}

// getKept reads a row without where it stands; version 0: there is none.
func getKept(b source, k []byte) (row, error) {
	v, err := get(b, k)
	if err != nil || v == nil {
		return row{}, err
	}
	return decodeKept(v)
}

func put(b *draft, p persistence.Put) (version uint64, err error) {
	k := rowKey(p.Key)
	old, err := getRow(b, k)
	if err != nil {
		return 0, err
	}
	moved := p.Value == nil || old.sort != p.Sort
	for _, l := range old.lists {
		if !moved && slices.Contains(p.Lists, l) {
			continue
		}
		if err = b.batch.Delete(key(placeSpace, p.Key.Table, l, old.sort, p.Key.ID), nil); err != nil {
			return 0, err
		}
	}
	if p.Value == nil {
		if old.version == 0 {
			return 0, nil
		}
		return 0, b.drop(k)
	}
	for _, l := range p.Lists {
		if !moved && slices.Contains(old.lists, l) {
			continue
		}
		if err = b.batch.Set(key(placeSpace, p.Key.Table, l, p.Sort, p.Key.ID), nil, nil); err != nil {
			return 0, err
		}
	}
	kept := row{version: old.version + 1, sort: p.Sort, lists: p.Lists, value: p.Value}
	return kept.version, b.setRow(k, kept)
}

// raise are the tallies as they will be. Each is kept whole in the draft, so
// that the next commit of a batch adds to it.
func raise(b *draft, adds []persistence.Add) ([]row, error) {
	raised := make([]row, len(adds))
	for i, a := range adds {
		old, err := getRow(b, rowKey(a.Key))
		if err != nil {
			return nil, err
		}
		if old.version == 0 {
			old.value = nil
		}
		if old.value, err = a.To(old.value); err != nil {
			return nil, err
		}
		old.version++
		raised[i] = old
	}
	return raised, nil
}

func counter(b source, k []byte) (uint64, error) {
	v, err := get(b, k)
	if err != nil || v == nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, errCorrupt
	}
	return binary.BigEndian.Uint64(v), nil
}

func appendEvents(b *draft, c *persistence.Commit, result *persistence.Result) error {
	if len(c.Events) == 0 {
		return nil
	}
	last, err := counter(b, key(offsetSpace, c.Log))
	if err != nil {
		return err
	}
	result.Offset = last + 1
	for i, e := range c.Events {
		subject := key(sequenceSpace, c.Log, e.Subject)
		n, err := counter(b, subject)
		if err != nil {
			return err
		}
		result.Sequences[i] = n + 1
		if err = b.set(subject, number(n+1)); err != nil {
			return err
		}
		last++
		if err = b.batch.Set(eventKey(c.Log, last), encodeEntry(n+1, e), nil); err != nil {
			return err
		}
	}
	return b.set(key(offsetSpace, c.Log), number(last))
}

// shorten removes what a commit wants to be gone of logs.
func shorten(b *draft, c *persistence.Commit) error {
	if c.Trim > 0 {
		if err := b.batch.DeleteRange(eventKey(c.Log, 0), eventKey(c.Log, c.Trim+1), nil); err != nil {
			return err
		}
	}
	for _, offset := range c.DeleteEvents {
		if err := b.batch.Delete(eventKey(c.Log, offset), nil); err != nil {
			return err
		}
	}
	for _, subject := range c.ForgetSubjects {
		if err := b.drop(key(sequenceSpace, c.Log, subject)); err != nil {
			return err
		}
	}
	if c.Forget == "" {
		return nil
	}
	return deleteLog(b, c.Forget)
}

// deleteLog removes a log: its entries, its end and the counts of its subjects.
func deleteLog(b *draft, log string) error {
	b.forgot = true
	counts := string(key(sequenceSpace, log, ""))
	for _, some := range []map[string][]byte{b.recent.old, b.recent.young} {
		for k := range some {
			if strings.HasPrefix(k, counts) {
				b.recent.young[k] = nil
			}
		}
	}
	return errors.Join(
		b.batch.DeleteRange(append(key(eventSpace, log), 0), append(key(eventSpace, log), 1), nil),
		b.batch.DeleteRange(append(key(sequenceSpace, log), 0), append(key(sequenceSpace, log), 1), nil),
		b.drop(key(offsetSpace, log)),
	)
}

// remember keeps the answer of a commit and forgets a few that are too old.
func remember(b *draft, id string, result persistence.Result) error {
	now := uint64(time.Now().UnixMilli())
	deadline := func(at uint64) []byte { return append([]byte{deadlineSpace}, number(at)...) }
	it, err := b.db.NewIter(&pebble.IterOptions{
		LowerBound: deadline(0), UpperBound: deadline(now - uint64(rememberFor/time.Millisecond)),
	})
	if err != nil {
		return err
	}
	var old [][]byte
	for ok := it.First(); ok && len(old) < 4; ok = it.Next() {
		old = append(old, slices.Clone(it.Key()))
	}
	if err = it.Close(); err != nil {
		return err
	}
	for _, k := range old {
		if err = errors.Join(b.batch.Delete(k, nil), b.drop(key(answerSpace, string(k[9:])))); err != nil {
			return err
		}
	}
	return errors.Join(
		b.set(key(answerSpace, id), encodeAnswer(now, result)),
		b.batch.Set(append(deadline(now), id...), nil, nil),
	)
}
