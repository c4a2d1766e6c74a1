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

type outcome struct {
	result persistence.Result
	err    error
}

type request struct {
	commit    persistence.Commit
	claim     claimKind
	cancelled <-chan struct{}
	answer    chan outcome // buffered, as there is exactly one outcome
}

func (r *request) isCancelled() bool {
	select {
	case <-r.cancelled:
		return true
	default:
		return false
	}
}

// commitLoop accepts or refuses commits one after another, and makes all waiting commits durable with one fsync. Only
// its goroutine writes to the database.
func (d *Driver) commitLoop() {
	defer close(d.done)
	look := time.NewTicker(diskCheckInterval)
	defer look.Stop()
	for {
		select {
		case r := <-d.queue:
			batch := d.waitForMore(d.collect(r))
			d.commitAll(batch)
			d.lastBatch.at, d.lastBatch.commits = time.Now(), len(batch)
		case <-look.C:
			_ = d.checkDisk() // reported by commits and by Healthy
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

// collect returns the request first and the requests that wait in the queue behind it, up to the batch limits.
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

// waitForMore waits briefly for further requests if the last batch had several commits, because one fsync
// can serve many commits. A single writer never waits.
func (d *Driver) waitForMore(batch []*request) []*request {
	alone := len(batch) == 1 && d.lastBatch.commits <= 1
	if d.opts.NoSync || alone || len(batch) >= maxGather || time.Since(d.lastBatch.at) > gatherAfter {
		return batch
	}
	wait := time.NewTimer(gatherFor)
	defer wait.Stop()
	for len(batch) < maxGather {
		select {
		case r := <-d.queue:
			batch = append(batch, r)
		case <-wait.C:
			return batch
		}
	}
	return batch
}

// commitAll adds the valid commits to one batch, writes the batch with one fsync, and answers all requests.
func (d *Driver) commitAll(requests []*request) {
	if requests = d.refuseUnwritable(requests); len(requests) == 0 {
		return
	}
	b := newDraft(d.db, d.recent)
	staged := make([]*request, 0, len(requests))
	answers := make([]outcome, 0, len(requests))
	var broken error
	for _, r := range requests {
		if broken != nil || r.isCancelled() {
			r.answer <- outcome{err: errors.Join(broken, persistence.ErrUnavailable)}
			continue
		}
		result, err := d.stage(b, r)
		switch {
		case err == nil, errors.Is(err, domain.ErrConflict), errors.Is(err, domain.ErrFenced), errors.Is(err, persistence.ErrMalformed):
			// The conflict may be with a commit of the same batch. The refused request is answered only after the batch is
			// durable, because its caller reads again and must then find the other commit.
			staged, answers = append(staged, r), append(answers, outcome{result: result, err: err})
		default: // a read failed, perhaps in the middle of a commit: nothing of this batch is written
			broken = fmt.Errorf("pebble: stage: %w", err)
			r.answer <- outcome{err: broken}
		}
	}
	if broken == nil && !b.batch.Empty() {
		broken = d.apply(b.batch)
	} else {
		_ = b.batch.Close()
	}
	if broken == nil {
		d.recent.rotate()
		if b.deletedLog {
			d.recent.clear()
		}
		d.views.renew(d.db)
	} else {
		d.recent.clear()
	}
	for i, r := range staged {
		if broken != nil {
			answers[i] = outcome{err: broken}
		}
		r.answer <- answers[i]
	}
}

// refuseUnwritable answers the requests that cannot be written, and returns the other requests. On a full disk only
// commits with Reserved can be written.
func (d *Driver) refuseUnwritable(requests []*request) []*request {
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
		r.answer <- outcome{err: refuse}
	}
	return admitted
}

// apply writes a batch to the database. Pebble's call never returns if the write-ahead log fails (guardedFS), so it
// runs in a separate goroutine.
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
			err = d.fs.failure() // Pebble reports failed commits to its logger only
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

// checkDisk returns ErrDiskFull while too little disk space is free. This check is necessary because Pebble ends the
// process if its write-ahead log cannot grow.
func (d *Driver) checkDisk() error {
	now := time.Now()
	if full := d.diskFull.Load(); now.Sub(d.diskCheckedAt) >= diskCheckInterval || full {
		d.diskCheckedAt = now
		usage, err := d.opts.FS.GetDiskUsage(d.dir)
		nowFull := err == nil && usage.AvailBytes < d.opts.MinFree
		if nowFull != full {
			d.diskFull.Store(nowFull)
			d.opts.Logger.Warn("the disk of the store is full or has space again", slog.Bool("full", nowFull), slog.Uint64("available_bytes", usage.AvailBytes))
		}
		if err == nil && usage.AvailBytes >= d.opts.MinFree+reserveBytes {
			d.keepReserve()
		}
	}
	if d.diskFull.Load() {
		return persistence.ErrDiskFull
	}
	return nil
}

// stage checks a commit against the database and the batch so far, and adds it to the batch if all checks pass. The
// errors domain.ErrConflict, domain.ErrFenced and persistence.ErrMalformed leave the batch unchanged.
func (d *Driver) stage(b *batchDraft, r *request) (persistence.Result, error) {
	c := &r.commit
	if r.claim != noClaim {
		return persistence.Result{}, applyClaim(b, c, r.claim)
	}
	if c.ID != "" {
		if before, err := get(b, key(answerSpace, c.ID)); err != nil || before != nil {
			return decodeReplay(before, err)
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
		have, errRow := getValue(b, rowKey(g.Key))
		if errRow != nil {
			return persistence.Result{}, errRow
		}
		if have.version != g.Version {
			return persistence.Result{}, domain.ErrConflict
		}
	}
	raised, err := applyCounterAdds(b, c.CounterAdds)
	if err != nil {
		return persistence.Result{}, err
	}
	result := persistence.Result{Versions: make([]uint64, len(c.Puts)), Sequences: make([]uint64, len(c.Events))}
	for i, p := range c.Puts {
		if result.Versions[i], err = put(b, p); err != nil {
			return persistence.Result{}, err
		}
	}
	for i, a := range c.CounterAdds {
		if err = b.set(rowKey(a.Key), raised[i].appendTo(nil)); err != nil {
			return persistence.Result{}, err
		}
	}
	if err = appendEvents(b, c, &result); err != nil {
		return persistence.Result{}, err
	}
	if err = deleteEvents(b, c); err != nil {
		return persistence.Result{}, err
	}
	if c.ID == "" {
		return result, nil
	}
	return result, storeResult(b, c.ID, result)
}

func decodeReplay(before []byte, err error) (persistence.Result, error) {
	if err != nil {
		return persistence.Result{}, err
	}
	_, result, err := decodeAnswer(before)
	return result, err
}

// source reads keys. It is implemented by batchDraft and by readView.
type source interface {
	Get(k []byte) ([]byte, io.Closer, error)
}

// get returns a copy of the value of a key, or nil if there is no such key.
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

// getRow reads a row. The version is 0 if there is no such row.
func getRow(b source, k []byte) (row, error) {
	v, err := get(b, k)
	if err != nil || v == nil {
		return row{}, err
	}
	return decodeRow(v)
}

// getValue reads the version and the value of a row, without its lists. The version is 0 if there is no such row.
func getValue(b source, k []byte) (row, error) {
	v, err := get(b, k)
	if err != nil || v == nil {
		return row{}, err
	}
	return decodeValue(v)
}

func put(b *batchDraft, p persistence.Put) (version uint64, err error) {
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
		return 0, b.delete(k)
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

// applyCounterAdds returns the counter rows with the additions of a commit. The caller stores each row with its value
// in the draft, so that the next commit of the batch can add to it.
func applyCounterAdds(b *batchDraft, adds []persistence.CounterAdd) ([]row, error) {
	raised := make([]row, len(adds))
	for i, a := range adds {
		old, err := getRow(b, rowKey(a.Key))
		if err != nil {
			return nil, err
		}
		if old.version == 0 {
			old.value = nil
		}
		if old.value, err = a.ApplyTo(old.value); err != nil {
			return nil, err
		}
		old.version++
		raised[i] = old
	}
	return raised, nil
}

func getCounter(b source, k []byte) (uint64, error) {
	v, err := get(b, k)
	if err != nil || v == nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, errCorrupt
	}
	return binary.BigEndian.Uint64(v), nil
}

func appendEvents(b *batchDraft, c *persistence.Commit, result *persistence.Result) error {
	if len(c.Events) == 0 {
		return nil
	}
	last, err := getCounter(b, key(offsetSpace, c.Log))
	if err != nil {
		return err
	}
	result.Offset = last + 1
	for i, e := range c.Events {
		subject := key(sequenceSpace, c.Log, e.Subject)
		n, err := getCounter(b, subject)
		if err != nil {
			return err
		}
		result.Sequences[i] = n + 1
		if err = b.set(subject, encodeNumber(n+1)); err != nil {
			return err
		}
		last++
		if err = b.batch.Set(eventKey(c.Log, last), encodeEntry(n+1, e), nil); err != nil {
			return err
		}
	}
	return b.set(key(offsetSpace, c.Log), encodeNumber(last))
}

// deleteEvents deletes the log entries, the subjects and the whole log that a commit names for deletion.
func deleteEvents(b *batchDraft, c *persistence.Commit) error {
	if c.TrimUpTo > 0 {
		if err := b.batch.DeleteRange(eventKey(c.Log, 0), eventKey(c.Log, c.TrimUpTo+1), nil); err != nil {
			return err
		}
	}
	for _, offset := range c.DeleteEvents {
		if err := b.batch.Delete(eventKey(c.Log, offset), nil); err != nil {
			return err
		}
	}
	for _, subject := range c.DeleteSubjects {
		if err := b.delete(key(sequenceSpace, c.Log, subject)); err != nil {
			return err
		}
	}
	if c.DeleteLog == "" {
		return nil
	}
	return deleteLog(b, c.DeleteLog)
}

// deleteLog deletes a log: its entries, its last offset and the sequences of its subjects.
func deleteLog(b *batchDraft, log string) error {
	b.deletedLog = true
	counts := string(key(sequenceSpace, log, ""))
	for _, some := range []map[string][]byte{b.recent.older, b.recent.newer} {
		for k := range some {
			if strings.HasPrefix(k, counts) {
				b.recent.newer[k] = nil
			}
		}
	}
	return errors.Join(
		b.batch.DeleteRange(append(key(eventSpace, log), 0), append(key(eventSpace, log), 1), nil),
		b.batch.DeleteRange(append(key(sequenceSpace, log), 0), append(key(sequenceSpace, log), 1), nil),
		b.delete(key(offsetSpace, log)),
	)
}

// storeResult stores the result of a commit for a repetition with the same ID, and deletes a few expired results.
func storeResult(b *batchDraft, id string, result persistence.Result) error {
	now := uint64(time.Now().UnixMilli())
	deadline := func(at uint64) []byte { return append([]byte{deadlineSpace}, encodeNumber(at)...) }
	it, err := b.db.NewIter(&pebble.IterOptions{
		LowerBound: deadline(0), UpperBound: deadline(now - uint64(resultTTL/time.Millisecond)),
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
		if err = errors.Join(b.batch.Delete(k, nil), b.delete(key(answerSpace, string(k[9:])))); err != nil {
			return err
		}
	}
	return errors.Join(
		b.set(key(answerSpace, id), encodeAnswer(now, result)),
		b.batch.Set(append(deadline(now), id...), nil, nil),
	)
}
